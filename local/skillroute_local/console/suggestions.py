"""The page Suggestions: what classifiers suggest, by name, with what speaks for it, for people to decide."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field
from skillroute_client import AsyncSkillroute, Forbidden, NotFound

from skillroute_local.console.actions import Actions
from skillroute_local.console.problems import remedy_for

_GROUPS = 1000
_SUGGESTIONS = 1000
_TOOLS = 25
_DECIDED = 50
_NEAREST = 6
_MAX_QUERY_LENGTH = 1000

actions = Actions("suggestions")


@actions.action
async def groups(client: AsyncSkillroute, status: str = "pending") -> list[dict[str, Any]]:
    """Return the names that suggestions of a status have, the most frequent first; 1,000 at most."""
    found: list[dict[str, Any]] = await client.request(
        "GET", "/api/v1/skills/suggestions/groups", params={"status": status, "limit": _GROUPS}
    )
    return found


@actions.action
async def evidence(client: AsyncSkillroute, group: dict[str, Any]) -> dict[str, Any]:
    """Return what speaks for a group: its suggestions, the texts of their tools, and the nearest skills there are.

    Tools' texts are read for the first 25 suggestions; `nearest` has the skill that is suggested first, if it is there,
    and is empty for who may not search.
    """
    suggestions, nearest, target = await asyncio.gather(
        _suggestions(client, group), _nearest(client, group), _target(client, group)
    )
    ids = [row["source_tool_id"] for row in suggestions if row["source_tool_id"] is not None][:_TOOLS]
    tools = await asyncio.gather(*(_tool(client, id_) for id_ in ids))
    return {
        "suggestions": suggestions,
        "tools": {str(id_): tool for id_, tool in zip(ids, tools, strict=True) if tool is not None},
        "nearest": nearest,
        "target": target,
    }


@actions.action
async def ids(client: AsyncSkillroute, group: dict[str, Any], until: AwareDatetime | None = None) -> list[int]:
    """Return the ids of a group's suggestions, without those that came after `until`."""
    found = await _suggestions(client, group)
    return [row["id"] for row in found if until is None or datetime.fromisoformat(row["created_at"]) <= until]


@actions.action
async def decided(
    client: AsyncSkillroute,
    status: Literal["approved", "merged", "rejected"],
    offset: Annotated[int, Field(ge=0)] = 0,
) -> dict[str, Any]:
    """Return 50 suggestions that were decided on, the latest decision first, and how many there are in all."""
    found = client.suggestions.list(status=status, sort="-updated_at", limit=_DECIDED, offset=offset)
    page = await found.first()
    total = offset + len(page.items) if page.total is None else page.total
    return {"rows": [row.model_dump(mode="json") for row in page.items], "total": total}


@actions.action
async def review(client: AsyncSkillroute, decision: dict[str, Any]) -> dict[str, Any]:
    """Carry out one decision, as `POST /api/v1/skills/suggestions/review` takes it, and return its result.

    Errors in it have a `remedy` besides.
    """
    answer = await client.request("POST", "/api/v1/skills/suggestions/review", json={"decisions": [decision]})
    result: dict[str, Any] = answer["results"][0]
    for error in filter(None, (result["error"], *(one["error"] for one in result["suggestions"]))):
        error["remedy"] = remedy_for(error["code"])
    return result


async def _suggestions(client: AsyncSkillroute, group: dict[str, Any]) -> list[dict[str, Any]]:
    params = {"name": group["name"], "status": "pending", "limit": _SUGGESTIONS}
    found = await client.request("GET", "/api/v1/skills/suggestions", params=params)
    is_description = group["kind"] == "description"
    return [
        row
        for row in found
        if row["kind"] == group["kind"] and (not is_description or row["target_skill_id"] == group["skill_id"])
    ]


async def _nearest(client: AsyncSkillroute, group: dict[str, Any]) -> list[dict[str, Any]]:
    query = f"{group['name']}: {group['description']}"[:_MAX_QUERY_LENGTH]
    try:
        found = await client.search_skills(query, limit=_NEAREST, threshold=0.0, mode="semantic")
    except Forbidden:
        return []
    # Without the score of the search: how near a tool is to a skill is the classifier's to say, in its reason.
    skills = [skill.model_dump(mode="json", exclude={"score"}) for skill in found]
    return sorted(skills, key=lambda skill: skill["id"] != group["skill_id"])


async def _target(client: AsyncSkillroute, group: dict[str, Any]) -> dict[str, Any] | None:
    if not (group["kind"] == "description" or group["skill_exists"]):
        return None
    try:
        return (await client.skills.get(group["skill_id"])).model_dump(mode="json")
    except NotFound:
        return None


async def _tool(client: AsyncSkillroute, tool_id: int) -> dict[str, Any] | None:
    try:
        tool = await client.tools.get(tool_id)
    except NotFound:
        return None
    return {"id": tool.id, "name": tool.name, "server": tool.server, "description": tool.description}
