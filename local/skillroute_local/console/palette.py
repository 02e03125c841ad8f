"""The palette of all pages: the names of what there is, so that one field leads everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions

_PAGE = 1000

actions = Actions("palette")


@actions.action
async def names(client: AsyncSkillroute) -> dict[str, list[dict[str, Any]]]:
    """Return the ids and names of all skills and servers."""

    async def skills() -> list[dict[str, Any]]:
        return [{"id": each.id, "name": each.name} async for each in client.skills.list(limit=_PAGE)]

    async def servers() -> list[dict[str, Any]]:
        return [{"id": each.id, "name": each.name} async for each in client.servers.list(limit=_PAGE)]

    found = await asyncio.gather(skills(), servers())
    return {"skills": found[0], "servers": found[1]}


@actions.action
async def tools(client: AsyncSkillroute) -> AsyncIterator[dict[str, Any]]:
    """Yield all tools as `[id, name, server]`, a thousand at a time."""
    async for page in client.tools.list(limit=_PAGE).pages():
        yield {"tools": [[each.id, each.name, each.server or ""] for each in page.items]}
