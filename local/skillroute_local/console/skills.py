"""The page Skills: what there is, its tools, and what people change of it."""

from __future__ import annotations

import asyncio
from typing import Any

from skillroute_client import ApiError, AsyncSkillroute, VersionConflict
from skillroute_client.models import Skill, ToolSkill

from skillroute_local.console.actions import Actions
from skillroute_local.console.problems import Stale

_PAGE = 1000
_AT_ONCE = 8

actions = Actions("skills")


@actions.action
async def skills(client: AsyncSkillroute) -> list[dict[str, Any]]:
    """Return all skills, those that are off as well."""
    return [found.model_dump(mode="json") async for found in client.skills.list(is_active="all", limit=_PAGE)]


@actions.action
async def skill(client: AsyncSkillroute, skill_id: str) -> dict[str, Any]:
    """Return a skill with its version, and its tools, those of the lowest confidence first."""
    found, tools = await asyncio.gather(client.skills.get(skill_id), _tools(client, skill_id))
    return {**_versioned(found), "tools": tools}


@actions.action
async def create(client: AsyncSkillroute, skill_id: str, name: str, description: str) -> dict[str, Any]:
    """Create a skill."""
    return _versioned(await client.skills.create(skill_id, name=name, description=description))


@actions.action
async def save(client: AsyncSkillroute, skill_id: str, fields: dict[str, Any], version: str | None) -> dict[str, Any]:
    """Change fields of a skill, where it is of this version still. Raises `Stale` with the skill as it is now."""
    try:
        return _versioned(await client.skills.patch(skill_id, if_match=version, **fields))
    except VersionConflict as conflict:
        now = await client.skills.get(skill_id)
        raise Stale("another user has changed the skill since you opened it", _versioned(now)) from conflict


@actions.action
async def merge(client: AsyncSkillroute, skill_id: str, into: str) -> dict[str, Any]:
    """Give the tools of a skill to another one, by hand, and switch the first off; return what became of each.

    There is no such operation in the API: it is made of its parts. A skill that some tool could not leave stays on, and
    doing it again goes on where it ended.
    """
    await client.skills.get(into)  # before anything is changed
    tools = await _tools(client, skill_id)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def move(tool_id: int) -> str | None:
        async with turns:
            try:
                await client.tools.assign(tool_id, _moved(await client.tools.skills(tool_id), skill_id, into))
            except ApiError as error:
                return error.detail
        return None

    whys = await asyncio.gather(*(move(tool["tool_id"]) for tool in tools))
    failed = [{"name": tool["tool_name"], "why": why} for tool, why in zip(tools, whys, strict=True) if why]
    if not failed:
        await client.skills.patch(skill_id, is_active=False)
    return {"moved": len(tools) - len(failed), "failed": failed}


def _moved(skills: list[ToolSkill], source: str, into: str) -> list[dict[str, Any]]:
    """Return a tool's skills with one instead of another, none twice, in the order that they had."""
    moved: dict[str, float] = {}
    for found in skills:
        id_ = into if found.skill_id == source else found.skill_id
        moved[id_] = max(moved.get(id_, 0.0), found.confidence)
    return [{"skill_id": id_, "confidence": confidence} for id_, confidence in moved.items()]


async def _tools(client: AsyncSkillroute, skill_id: str) -> list[dict[str, Any]]:
    found = [tool.model_dump(mode="json") async for tool in client.skills.tools(skill_id, limit=_PAGE)]
    return sorted(found, key=lambda tool: (tool["confidence"], tool["tool_id"]))


def _versioned(found: Skill) -> dict[str, Any]:
    return {"skill": found.model_dump(mode="json"), "version": found.etag}
