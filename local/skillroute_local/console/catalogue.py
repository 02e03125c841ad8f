"""The page Catalogue: tools, and what people change of them."""

from __future__ import annotations

import asyncio
from typing import Any

from skillroute_client import AsyncSkillroute
from skillroute_client.models import Tool

from skillroute_local.console.actions import Actions
from skillroute_local.console.problems import Stale

_PAGE = 1000
_SHOWN = 240
_CHANGED = 500

actions = Actions("catalogue")


@actions.action
async def tools(client: AsyncSkillroute, offset: int = 0) -> dict[str, Any]:
    """Return up to 1,000 tools from `offset` on, as rows of a list, and how many there are in all."""
    page = await client.tools.list(limit=_PAGE, offset=offset).first()
    total = offset + len(page.items) if page.total is None else page.total
    return {"rows": [_row(tool) for tool in page.items], "total": total}


@actions.action
async def tool(client: AsyncSkillroute, tool_id: int) -> dict[str, Any]:
    """Return a tool whole, with its skills."""
    found, skills = await asyncio.gather(client.tools.get(tool_id), client.tools.skills(tool_id))
    return {"tool": found.model_dump(mode="json"), "skills": [skill.model_dump(mode="json") for skill in skills]}


@actions.action
async def describe(client: AsyncSkillroute, tool_id: int, text: str, seen: str) -> dict[str, Any]:
    """Write a tool's description over, where it has that still that the page has `seen`.

    Who writes it approves it, but for a definition that waits: with its text everything else of it would be approved.
    """
    found = await client.tools.get(tool_id)
    if found.description != seen:
        raise Stale(f"the tool's description was changed meanwhile; it is now: {found.description}", found.description)
    is_approved = not (found.is_quarantined or await _waits(client, tool_id))
    body = found.model_dump(mode="json", by_alias=True, exclude_unset=True) | {"description": text}
    changed = await client.tools.put_one(tool_id, body, if_match=found.etag, approve=is_approved)
    return changed.model_dump(mode="json")


@actions.action
async def assign(client: AsyncSkillroute, tool_id: int, skill_ids: list[str], seen: list[str]) -> dict[str, Any]:
    """Give a tool these skills by hand, the primary one first, where it has those still that the page has `seen`."""
    now = [skill.skill_id for skill in await client.tools.skills(tool_id)]
    if now != seen:
        raise Stale(f"the tool's skills were changed meanwhile: it has {', '.join(now) or 'none'} now", now)
    # Falling confidences: the first becomes the primary skill.
    wanted = [{"skill_id": id_, "confidence": round(1 - 0.01 * at, 2)} for at, id_ in enumerate(skill_ids)]
    skills = await client.tools.assign(tool_id, wanted)
    return {"skills": [skill.model_dump(mode="json") for skill in skills]}


@actions.action
async def requests(client: AsyncSkillroute, tool_id: int, texts: list[str], seen: list[str]) -> dict[str, Any]:
    """Let a tool serve these requests, where it has those still that the page has `seen`; new ones are a person's."""
    stored = (await client.tools.get(tool_id)).requests or []
    now = [request.text for request in stored]
    if now != seen:
        raise Stale("the tool's requests were changed meanwhile", now)
    # A person who keeps some of the packaged ones has chosen them.
    sources = {request.text: request.source.replace("packaged", "import") for request in stored}
    wanted = [{"text": text, "source": sources.get(text, "person")} for text in texts]
    return (await client.tools.set_requests(tool_id, wanted)).model_dump(mode="json")


@actions.action
async def classify(client: AsyncSkillroute, tool_id: int, force: bool = False) -> dict[str, Any]:
    """Classify a tool now; `force` replaces what a person decided, too."""
    return (await client.skills.classify(tool_id, force_reclassify=force)).model_dump(mode="json")


@actions.action
async def switch(client: AsyncSkillroute, tool_id: int, on: bool) -> dict[str, Any]:
    """Let searches find a tool, or keep them from it."""
    answer = await client.request("PATCH", f"/api/v1/tools/{tool_id}", json={"is_active": on})
    return _row(Tool.model_validate(answer))


async def _waits(client: AsyncSkillroute, tool_id: int) -> bool:
    """Return whether a tool's definition is not as it was approved."""
    return any([changed.id == tool_id async for changed in client.trust.changed(limit=_CHANGED)])


def _row(found: Tool) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "server": found.server or "",
        "type": found.type,
        "description": found.description[:_SHOWN],
        "skill_ids": found.skill_ids,
        "is_active": found.is_active,
        "is_switched_off": found.is_switched_off,
    }
