"""Registered servers are asked for their tools again: what is new is added, and what is gone is switched off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.calling.model import CallFailed, Endpoint, JsonObject, Limits, RemoteTools
from skillroute.calling.servers import endpoint_of
from skillroute.catalogue.switch import SwitchItem
from skillroute.catalogue.sync import MAX_ITEMS, SyncTools
from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.outbound.credentials import Identities, LoginNeeded, ServerRef
from skillroute.core.postgres.database import Database
from skillroute.registry.model import SeenOutcome

_AT_ONCE, _OF_A_RUN = 8, 200
_LEAST_S = 5.0
"""No server is asked with less left: its tools have to be written, too."""
_WITHOUT_A_PERSON = {"none", "secret"}


@dataclass(frozen=True, slots=True)
class _Due:
    """A server that is to be asked, and what came of it the last time."""

    ref: ServerRef
    endpoint: Endpoint
    named: str
    kind: str
    before: SeenOutcome | None
    gone: frozenset[int]

    @property
    def keeper(self) -> Caller:
        """The owner of its items, in whose name they are written."""
        return Caller(org_id=self.ref.org_id, scopes=frozenset({Scope.CATALOG}), name="seen again")


@dataclass(frozen=True, slots=True)
class _Stored:
    id: int
    name: str
    is_switched_off: bool
    tags: Sequence[str]
    metadata: Mapping[str, Any]


class SeeServers:
    """Asks servers for their tools again, and writes the difference.

    Parameters
    ----------
    sync : SyncTools
        Writes what they list; definitions that changed are treated as in any write.
    switch : SwitchItem
    limits : Limits
        Of asking one server.
    every_h : float
        Hours after which a server is due; 0 asks none.
    """

    def __init__(
        self,
        database: Database,
        sync: SyncTools,
        switch: SwitchItem,
        identities: Identities,
        remote: RemoteTools,
        limits: Limits,
        every_h: float,
    ) -> None:
        self._database = database
        self._sync = sync
        self._switch = switch
        self._identities = identities
        self._remote = remote
        self._limits = limits
        self._every_h = every_h

    def __call__(self, left_s: Callable[[], float]) -> dict[str, int]:
        """Ask the servers that are due, as many as there is time for; return how many ended how."""
        if not self._every_h:
            return {}
        # Not `asyncio.run`, which would leave its thread without the loop that others look for there.
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(self._all(left_s))
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def _all(self, left_s: Callable[[], float]) -> dict[str, int]:
        due = await asyncio.to_thread(lambda: [*self._due()])
        turns, ended = asyncio.Semaphore(_AT_ONCE), Counter[str]()

        async def one(server: _Due) -> None:
            async with turns:
                if left_s() > _LEAST_S:
                    ended[await self._one(server, left_s())] += 1

        await asyncio.gather(*map(one, due))
        return dict(ended)

    def _due(self) -> Iterator[_Due]:
        rows = self._database.read(lambda session: session.run("servers_due", hours=self._every_h, limit=_OF_A_RUN))
        for id_, org_id, name, document, named, kind, before, gone in rows:
            if (endpoint := endpoint_of(document)) is not None:
                ref = ServerRef(id_, org_id, name, endpoint.url)
                yield _Due(ref, endpoint, named, kind, before, frozenset(gone))

    async def _one(self, server: _Due, left_s: float) -> SeenOutcome:
        """Ask one server. One that fails, or is not asked, loses nothing."""
        if server.kind not in _WITHOUT_A_PERSON:
            error = f"its identity is {server.kind}: it lists its tools to a person who is logged in alone"
            return await asyncio.to_thread(self._note, server, "left_out", None, error, server.gone)
        limits = Limits(min(self._limits.seconds, left_s - _LEAST_S + 1.0), self._limits.answer_bytes)
        try:
            credentials = await asyncio.to_thread(self._identities.credentials, server.ref, server.keeper, None)
            listed = await self._remote.list_tools(server.endpoint, credentials=credentials, limits=limits)
            return await asyncio.to_thread(self._write, server, listed)
        except (CallFailed, LoginNeeded, SkillrouteError) as error:
            return await asyncio.to_thread(self._note, server, "failed", None, str(error), server.gone)

    def _write(self, server: _Due, listed: Sequence[JsonObject]) -> SeenOutcome:
        caller, names = server.keeper, {str(tool.get("name")) for tool in listed}
        rows = self._database.read(
            lambda session: session.run("listed_before", server=server.named, org_id=caller.org_id)
        )
        stored = {name: _Stored(id_, name, *rest) for id_, name, *rest in rows}
        on = {tool.name: tool for tool in stored.values() if not tool.is_switched_off}
        missing = [tool for name, tool in on.items() if name not in names]
        # An empty answer, or one that lost more than half, may be a server's bad day: it is believed the second time.
        if 2 * len(missing) > len(on) and server.before != "doubted":
            return self._note(server, "doubted", len(listed), f"{len(missing)} of {len(on)} are gone", server.gone)
        items = [_item(tool, server.named, stored.get(str(tool.get("name")))) for tool in listed]
        for start in range(0, len(items), MAX_ITEMS):
            self._sync(items[start : start + MAX_ITEMS], caller)
        for tool in missing:
            self._switch(tool.id, caller, is_active=False)
            logger.info("switched off", extra={"tool_id": tool.id, "reason": "its server no longer lists it"})
        back = [stored[name].id for name in names & stored.keys() if stored[name].id in server.gone]
        for id_ in back:
            self._switch(id_, caller, is_active=True)
        gone = (server.gone - set(back)) | {tool.id for tool in missing}
        return self._note(server, "seen", len(listed), None, gone)

    def _note(
        self, server: _Due, outcome: SeenOutcome, tools: int | None, error: str | None, gone: frozenset[int] | set[int]
    ) -> SeenOutcome:
        self._database.transact(
            lambda session: session.run(
                "note_sighting",
                server_id=server.ref.id,
                outcome=outcome,
                tools=tools,
                error=None if error is None else error[:1000],
                gone=sorted(gone),
            )
        )
        return outcome


def _item(tool: JsonObject, server: str, stored: _Stored | None) -> dict[str, Any]:
    """Return a tool as it is written: what its keepers added to it stays."""
    if stored is None:
        return {**tool, "type": "tool", "server": server}
    kept = {name: value for name, value in stored.metadata.items() if name not in tool}
    return {**tool, "type": "tool", "server": server, "tags": list(stored.tags), "metadata": kept}
