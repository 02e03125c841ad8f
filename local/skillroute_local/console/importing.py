"""The page Servers, its import: what it would change first, then exactly that is written."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict

import skillroute_client as api
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.events import Event, Rooms, Tell, from_thread
from skillroute_local.console.import_client import AwaitedClient
from skillroute_local.console.import_sources import Given, ReadOnce, as_shown, require_one
from skillroute_local.console.problems import Problem, Refused
from skillroute_local.errors import LocalError
from skillroute_local.importing.compare import Change
from skillroute_local.importing.pruning import Pruning
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.values import SAYS_WHOSE
from skillroute_local.importing.wanted import Wanted
from skillroute_local.importing.watch import Watched

SHOWN = 200
"""Rows of a difference, and lines of each kind of notes, that the page shows."""

_AT_ONCE = 2
_ORDER = {"created": 0, "updated": 1, "removed": 2, "deleted": 3, "unchanged": 4}


def import_actions(*, reaches: bool) -> Actions:
    """Return the actions of the import; `reaches` says whether addresses are reached for who opens the page."""
    actions = Actions("servers")
    rooms = Rooms(_AT_ONCE)

    async def told(client: AsyncSkillroute, source: Given, does: Callable[[_Work], Event]) -> AsyncIterator[Event]:
        # Skillroute says who asks, before anything is reached for them.
        require_one(source, reaches=reaches)
        org_id = await organisation_of(client, "catalog")
        work = _told(lambda tell, loop: does(_Work(source, ReadOnce(source, reaches=reaches), client, loop, tell)))
        async with aclosing(rooms.within(org_id, work)) as found:
            async for event in found:
                yield event

    @actions.action
    async def compare(client: AsyncSkillroute, source: Given) -> AsyncIterator[Event]:
        """Yield how far it is, and at last what an import would change; nothing is changed."""
        async for event in told(client, source, _Work.compare):
            yield event

    @actions.action
    async def write(client: AsyncSkillroute, source: Given, shown: str) -> AsyncIterator[Event]:
        """Yield how far the import is, and at last what was written.

        Where that would not be what was `shown` any more, since the source or the catalogue changed meanwhile, nothing
        is written, and the new difference is the last event.
        """
        async for event in told(client, source, lambda work: work.write(shown)):
            yield event

    return actions


async def _told(work: Callable[[Tell, asyncio.AbstractEventLoop], Event]) -> AsyncGenerator[Event, None]:
    """Yield what work in a thread tells, with errors as the page shows them."""
    loop = asyncio.get_running_loop()
    try:
        async with aclosing(from_thread(lambda tell: work(tell, loop))) as found:
            async for event in found:
                yield event
    except LocalError as error:
        raise _as_shown(error) from error


def _as_shown(error: LocalError) -> Exception:
    """Return an error of the importers as the page shows it: that of the API, where there is one."""
    cause = error.__cause__
    if isinstance(cause, api.SkillrouteError):
        return cause
    return Refused(Problem(422, str(error), "Correct it, and try again.", "invalid_request"))


class _Work:
    """An import of one source, in a thread."""

    def __init__(
        self, source: Given, read: ReadOnce, client: AsyncSkillroute, loop: asyncio.AbstractEventLoop, tell: Tell
    ) -> None:
        self._source = source
        self._tell = tell
        self._read = read
        self._client = AwaitedClient(client, loop)
        self._changes: list[Change] = []

    def compare(self) -> Event:
        """Return what would change."""
        return {"plan": self._plan()}

    def write(self, shown: str) -> Event:
        """Write what was shown, and return what was written; or the difference of now, where it is another one."""
        plan = self._plan()
        if plan["digest"] != shown:
            return {"plan": plan | {"is_another": True}}
        importing = self._import()
        report = importing.write(lambda _: _Steps("writing", self._tell, lambda: importing.report))
        return {"written": _report(report) | {"servers": self._servers()}}

    def _plan(self) -> Event:
        doing = "reading" if self._source.address is None else "reaching the server"
        self._tell({"doing": doing, "done": 0, "total": None})
        report = self._import().compare(lambda _: _Steps("comparing", self._tell), self._changes.append)
        changes = sorted(self._changes, key=lambda change: _ORDER[change.what])  # by kind of change; else as they came
        return _report(report) | {
            "digest": self._digest(),
            "changes": [asdict(change) for change in changes[:SHOWN]],
            "more": max(0, len(changes) - SHOWN),
            "writes": sum(change.what != "unchanged" for change in changes),
            "programs": as_shown(self._read.not_started),
            "servers": self._servers(),
        }

    def _import(self) -> Import:
        prune = self._source.prune
        pruning = None if prune == "no" else Pruning(is_confirmed=prune == "all")
        wanted = Wanted(self._read.name, "items", self._read.read, Watched(None))
        return Import([wanted], self._client, pruning=pruning)

    def _servers(self) -> list[str]:
        """Return what the rows name as their servers."""
        named = {row.value.get("server") for row in self._read.rows if row.kind == "items"}
        return sorted(name for name in named if isinstance(name, str) and name)[:SHOWN]

    def _digest(self) -> str:
        """Return what stands for all that would be written, and for what is stored in its place."""
        whole = hashlib.sha256()
        for row in self._read.rows:
            whole.update(json.dumps([row.kind, row.value], sort_keys=True, default=str).encode())
        for change in self._changes:
            whole.update(json.dumps(asdict(change), sort_keys=True).encode())
        # The same fields may differ from another content.
        whole.update(json.dumps([self._source.prune, sorted(self._client.read)]).encode())
        return whole.hexdigest()


class _Steps:
    """Tells the page how far a source is; a `Bar` of the importers."""

    def __init__(self, doing: str, tell: Tell, report: Callable[[], ImportReport] | None = None) -> None:
        self._doing = doing
        self._tell = tell
        self._report = report
        self._done = 0
        self._total: int | None = None

    def sized(self, size: int) -> None:
        self._total = max(size, 1)
        self._say()

    def advance(self, done: int) -> None:
        self._done += done
        self._say()

    def end(self) -> None:
        self._say()

    def _say(self) -> None:
        counts = None if self._report is None else _counts(self._report())
        self._tell({"doing": self._doing, "done": self._done, "total": self._total, "counts": counts})


def _report(report: ImportReport) -> Event:
    lines = {name: getattr(report, name) for name in ("problems", "refused", "warnings", "left_out", "notes")}
    return {
        "counts": _counts(report),
        "tools": dict(report.tools),
        **{name: [_of_the_page(line) for line in found[:SHOWN]] for name, found in lines.items()},
        "more_lines": {name: len(found) - SHOWN for name, found in lines.items() if len(found) > SHOWN},
        "waiting_for_model": report.waiting_for_model,
    }


def _of_the_page(line: str) -> str:
    """Return a line of a report with the field of the page where the importers name their option."""
    return line.replace(SAYS_WHOSE, "enter its name in the field Server, and compare again")


def _counts(report: ImportReport) -> dict[str, dict[str, int]]:
    return {kind: dict(counts) for kind, counts in report.counts.items()}
