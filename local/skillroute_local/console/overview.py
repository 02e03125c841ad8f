"""The page Overview: how it goes now and went over hours and days, what the catalogue has, and the last changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skillroute_client import AsyncSkillroute, Forbidden, NotFound, Unauthenticated
from skillroute_client.models import Health

from skillroute_local.console.actions import Actions
from skillroute_local.console.lent_parts import LendParts, with_parts
from skillroute_local.history.source import History, HistoryUnavailable, Range

if TYPE_CHECKING:
    from skillroute.wiring import Parts

_LAST = 12
_GROUPS = 1000


def overview_actions(lend: LendParts | None, history: History | None) -> Actions:
    """Return the actions of the page; without parts and history it has what the API answers to the caller."""
    actions = Actions("overview")

    @actions.action
    async def now(client: AsyncSkillroute) -> dict[str, Any]:
        """Return how Skillroute stands and what waits; None for what the caller may not know."""
        health, changed, suggested = await asyncio.gather(
            client.ready(), _unless_hidden(_changed(client)), _unless_hidden(_suggested(client))
        )
        waiting = None if lend is None else await with_parts(lend, _waiting)
        return {"health": _shown(health), "changed": changed, "suggested": suggested, "waiting": waiting}

    @actions.action
    async def series(client: AsyncSkillroute, range_: Range) -> dict[str, Any]:
        """Return the figures of a range; without them `why` and `remedy` say what is missing."""
        if history is None:
            return {"series": None, "why": _WHY_NOT, "remedy": _HOW}
        try:
            return await asyncio.to_thread(history.series, range_)
        except HistoryUnavailable as error:
            return {"series": None, "why": str(error), "remedy": error.remedy}

    @actions.action
    async def catalogue(client: AsyncSkillroute) -> dict[str, int | None]:
        """Return how much there is of each kind; None for what the caller may not list."""
        return await _by_kind(client)

    @actions.action
    async def latest(client: AsyncSkillroute) -> dict[str, Any]:
        """Return the last changes: with who made them where the caller may read the trace, else what changed last."""
        return await _latest(client)

    return actions


_WHY_NOT = "No figures of hours and days are kept for this page."
_HOW = (
    "Open it with `skillroute console` on the machine where Skillroute runs; for a deployment on AWS give its address "
    "and --stack, with AWS credentials that have the right cloudwatch:GetMetricData."
)


def _waiting(parts: Parts) -> dict[str, Any]:
    from skillroute_local.history.recorder import queued_in  # noqa: PLC0415 (loaded by who opens the page)

    return asdict(queued_in(parts))


def _shown(health: Health) -> dict[str, Any]:
    fields = {"status", "version", "search_mode", "dependencies", "index_lag", "embedding_refused", "counts", "latency"}
    return health.model_dump(mode="json", include=fields)


async def _by_kind(client: AsyncSkillroute) -> dict[str, int | None]:
    kinds = {
        "tool": client.tools.list(type="tool", limit=1),
        "prompt": client.tools.list(type="prompt", limit=1),
        "resource": client.tools.list(type="resource", limit=1),
        "skills": client.skills.list(limit=1),
        "servers": client.servers.list(limit=1),
        "agents": client.agents.list(limit=1),
        "agent_skills": client.agent_skills.list(limit=1),
        "messages": client.messages.list(limit=1),
    }
    counts = await asyncio.gather(*(_unless_hidden(_total(pages)) for pages in kinds.values()))
    return dict(zip(kinds, counts, strict=True))


async def _latest(client: AsyncSkillroute) -> dict[str, Any]:
    events = await _unless_hidden(client.trace(kind="change", limit=_LAST))
    if events:
        return {"events": [event.model_dump(mode="json") for event in events], "items": None, "may_read": True}
    tools, skills = await asyncio.gather(
        _unless_hidden(client.tools.list(sort="-updated_at", is_active="all", limit=_LAST).first()),
        _unless_hidden(client.skills.list(sort="-updated_at", is_active="all", limit=_LAST).first()),
    )
    rows = [_item("tool", each) for each in (tools.items if tools else [])]
    rows += [_item("skill", each) for each in (skills.items if skills else [])]
    rows.sort(key=lambda row: row["at"] or "", reverse=True)
    return {"events": None, "items": rows[:_LAST], "may_read": events is not None}


async def _unless_hidden(asked: Awaitable[Any]) -> Any:
    """Return the answer; None where the caller may not ask, or where an older Skillroute has no such list.

    Without a token it is None as well: `now` alone says that one is to be entered, so that the page does it once.
    """
    try:
        return await asked
    except (Forbidden, Unauthenticated, NotFound):
        return None


async def _changed(client: AsyncSkillroute) -> int | None:
    return (await client.trust.changed(limit=1).first()).total


async def _suggested(client: AsyncSkillroute) -> int:
    params = {"status": "pending", "limit": _GROUPS}
    groups = await client.request("GET", "/api/v1/skills/suggestions/groups", params=params)
    return len(groups)


async def _total(pages: Any) -> int | None:
    page = await pages.first()
    total: int | None = page.total
    return total


def _item(kind: str, found: Any) -> dict[str, Any]:
    row = found.model_dump(mode="json")
    return {"kind": kind, "id": row["id"], "name": row["name"], "at": row.get("updated_at")}
