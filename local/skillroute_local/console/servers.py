"""The page Servers: all servers that items have, how they answered last, and switching several at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field
from skillroute_client import ApiError, AsyncSkillroute, Forbidden, Unauthenticated, VersionConflict
from skillroute_client.models import Server, Tool

from skillroute_local.console.actions import Actions
from skillroute_local.console.problems import Stale, problem_of

_PAGE = 1000
_CHANGES_PAGE = 500
_MOST_CHANGES = 2000
_TOOLS = 200
_MOST_AT_ONCE = 500
_SIDE_BY_SIDE = 8

_NO_NAME = "is registered by now, or cannot be by this name: reload, or give its tools the path of their server"

actions = Actions("servers")

Names = Annotated[list[str], Field(min_length=1, max_length=100)]


class Wanted(BaseModel):
    """A server to be switched, as the page saw it: a registered one by its id, another one by its name."""

    key: str
    id: int | None = None
    name: str
    was_enabled: bool


Several = Annotated[list[Wanted], Field(min_length=1, max_length=_MOST_AT_ONCE)]


@actions.action
async def listed(client: AsyncSkillroute) -> AsyncIterator[dict[str, Any]]:
    """Yield the registered servers, and at last all, those that only items name as well, each under one name.

    `waiting` counts changed definitions to be approved, and is None for a caller that may not see them; `counted_all`
    is false where there are more of them than were counted. `reading` says how many items were read, and of how many.
    """
    rows = _Rows([found async for found in client.servers.list(limit=_PAGE)])
    waiting = await _waiting(client)

    def now(reading: dict[str, int | None] | None) -> dict[str, Any]:
        return {
            "rows": rows.as_json(waiting),
            "counts_waiting": waiting is not None,
            "counted_all": waiting is None or waiting.total() < _MOST_CHANGES,
            "reading": reading,
        }

    done = 0
    async for page in client.tools.list(limit=_PAGE).pages():
        for tool in page.items:
            rows.add(tool)
        done += len(page.items)
        if page.following is not None:
            reading = {"done": done, "total": page.total}
            yield now(reading) if done == len(page.items) else {"reading": reading}
    yield now(None)


@actions.action
async def registered(client: AsyncSkillroute) -> list[dict[str, Any]]:
    """Return the servers that are registered, without what is read of their items."""
    return [registered_row(found) async for found in client.servers.list(limit=_PAGE)]


@actions.action
async def tools(client: AsyncSkillroute, names: Names) -> dict[str, Any]:
    """Return the first 200 items of a server, by the names that they have for it, and how many there are."""
    rows: list[dict[str, Any]] = []
    total = 0
    for name in names:
        page = await client.tools.list(server=name, limit=_TOOLS).first()
        total += len(page.items) if page.total is None else page.total
        rows += [_item(found) for found in page.items]
    return {"rows": sorted(rows, key=lambda row: (row["name"], row["id"]))[:_TOOLS], "total": total}


@actions.action
async def switch(client: AsyncSkillroute, servers: Several, on: bool) -> list[dict[str, Any]]:
    """Let searches find servers and their tools, or keep them from these; one that only items name is registered.

    Each result is `switched`, `changed` where another user switched it since it was seen (then it is left as it is),
    or `failed`; with the server as it is now, where it is known.
    """
    room = asyncio.Semaphore(_SIDE_BY_SIDE)

    async def one(wanted: Wanted) -> dict[str, Any] | Exception:
        async with room:
            try:
                return await _switch(client, wanted, on=on)
            except (ApiError, Stale) as error:
                return error

    results = await asyncio.gather(*map(one, servers))
    failed = [result for result in results if isinstance(result, Exception)]
    if len(failed) == len(results):  # such as a scope that is missing: it is reported once
        raise failed[0]
    return [
        _failed(wanted, result) if isinstance(result, Exception) else result
        for wanted, result in zip(servers, results, strict=True)
    ]


async def _switch(client: AsyncSkillroute, wanted: Wanted, *, on: bool) -> dict[str, Any]:
    if wanted.id is None:
        return {
            "key": wanted.key,
            "status": "switched",
            "now": registered_row(await _register(client, wanted.name, on)),
        }
    now = await client.servers.get(wanted.id)
    if now.is_enabled != wanted.was_enabled:
        return {"key": wanted.key, "status": "changed", "now": registered_row(now)}
    # Of the version that was looked at: another one was written meanwhile.
    call = client.servers.enable if on else client.servers.disable
    try:
        switched = await call(wanted.id, if_match=now.etag)
    except VersionConflict:
        return {"key": wanted.key, "status": "changed", "now": registered_row(await client.servers.get(wanted.id))}
    return {"key": wanted.key, "status": "switched", "now": registered_row(switched)}


async def _register(client: AsyncSkillroute, name: str, on: bool) -> Server:
    """Register a server that items name, on or off: its tools follow it. One that is there is left alone."""
    server = {"name": name, "is_enabled": on}
    [tried] = (await client.servers.put([server], dry_run=True)).results
    if tried.status != "created":
        raise Stale(f"{name} {_NO_NAME}", None)
    [written] = (await client.servers.put([server])).results
    return await client.servers.get(cast(int, written.id))


def _failed(wanted: Wanted, error: Exception) -> dict[str, Any]:
    problem = problem_of(error, "")
    why = str(error) if problem is None else f"{problem.detail}. {problem.remedy}"
    return {"key": wanted.key, "status": "failed", "now": None, "why": why}


async def _waiting(client: AsyncSkillroute) -> Counter[str] | None:
    """Return how many changed definitions wait, by the `server` of items."""
    counts: Counter[str] = Counter()
    try:
        async for each in client.trust.changed(limit=_CHANGES_PAGE):
            counts[each.server or ""] += 1
            if counts.total() >= _MOST_CHANGES:
                break
    except (Forbidden, Unauthenticated):
        return None
    return counts


@dataclass(slots=True)
class _Named:
    """A server that items name and that is not registered."""

    name: str
    names: set[str] = field(default_factory=set)
    tool_count: int = 0
    is_enabled: bool = False
    changed_at: datetime | None = None


class _Rows:
    """Servers as they are met: by their registration, and by the `server` of items."""

    def __init__(self, registered: list[Server]) -> None:
        self._registered = registered
        self._of = {name: found.id for found in registered for name in (found.tools_server, *found.item_servers)}
        self._changed: dict[int, datetime | None] = {found.id: found.updated_at for found in registered}
        self._others: dict[str, _Named] = {}

    def add(self, tool: Tool) -> None:
        """Take an item into account."""
        name = tool.server or ""
        if name in self._of:
            self._changed[self._of[name]] = _latest(self._changed[self._of[name]], tool.updated_at)
            return
        key = "-".join(name.strip().strip("/").lower().split())
        if not key:
            return
        other = self._others.setdefault(key, _Named(name))
        other.names.add(name)
        other.tool_count += tool.type == "tool"
        other.is_enabled |= tool.is_active
        other.changed_at = _latest(other.changed_at, tool.updated_at)

    def as_json(self, waiting: Counter[str] | None) -> list[dict[str, Any]]:
        """Return the rows of the page."""
        rows = [registered_row(found) | {"changed_at": _shown(self._changed[found.id])} for found in self._registered]
        rows += [_named_row(key, other) for key, other in self._others.items()]
        for row in rows:
            row["waiting"] = None if waiting is None else sum(waiting[name] for name in set(row["names"]))
        return rows


def registered_row(found: Server) -> dict[str, Any]:
    """Return a registered server as the page shows it."""
    return {
        "key": str(found.id),
        "id": found.id,
        "name": found.name,
        "names": sorted({found.tools_server, *found.item_servers} - {""}),
        "tools_server": found.tools_server,
        "path": found.path,
        "description": found.description,
        "tags": found.tags,
        "tool_count": found.tool_count,
        "is_enabled": found.is_enabled,
        "is_global": found.org_id is None,
        "outcome": found.seen_outcome,
        "seen_at": _shown(found.seen_at),
        "seen_error": found.seen_error,
        "changed_at": _shown(found.updated_at),
    }


def _named_row(key: str, other: _Named) -> dict[str, Any]:
    return {
        "key": f"named {key}",
        "id": None,
        "name": other.name,
        "names": sorted(other.names),
        "tools_server": other.name,
        "path": None,
        "description": "",
        "tags": [],
        "tool_count": other.tool_count,
        "is_enabled": other.is_enabled,
        "is_global": False,
        "outcome": None,
        "seen_at": None,
        "seen_error": None,
        "changed_at": _shown(other.changed_at),
    }


def _item(found: Tool) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "type": found.type,
        "is_active": found.is_active,
        "is_quarantined": found.is_quarantined,
    }


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((at for at in (one, other) if at is not None), default=None)


def _shown(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
