"""Calling a tool: find it and its server, take a place among the calls under way, and pass on the answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from skillroute.calling.in_flight import CallsInFlight
from skillroute.calling.model import (
    CallFailed,
    Failure,
    JsonObject,
    Limits,
    Operation,
    Progress,
    RemoteTools,
)
from skillroute.calling.servers import CallableServers, NotCallable, Target
from skillroute.calling.tool_call import LINK_HINT, ToolCall, failed
from skillroute.calling.traced import CallTracing
from skillroute.catalogue.access import visible_item
from skillroute.catalogue.facts import facts_of_item
from skillroute.catalogue.model import Item
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import Caller
from skillroute.core.errors import outage
from skillroute.core.errors.model import DependencyUnavailable, NotFound
from skillroute.core.observability import Metric, count, logger, observe_ms
from skillroute.core.outbound.credentials import Credentials, Identities, LoginNeeded
from skillroute.core.postgres.database import Database
from skillroute.core.rights.decide import EVERYTHING, Rights
from skillroute.core.rights.hints import only_reads
from skillroute.core.trace.recorder import Traces

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from skillroute.core.tracing import Spans

_LOOK_S = 1.0
"""How often a call that lasts is asked after: whether its caller has taken it back."""


_TOO_SLOW = "the tool did not answer in time: it may have done its work all the same"
_TOO_LITTLE = re.compile(r'\berror\s*=\s*"?insufficient_scope\b', re.IGNORECASE)
"""In the challenge of a 403 (RFC 6750, section 3.1): the credentials are good, and their scopes do not suffice."""
_LETS_GO_S = 1.5
"""How long a call that is given up may take to say so to its server."""


class _Refused(Exception):
    """A call that is not made; `str(error)` is for the model that asked."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class CallTool:
    """Calls tools. Any failure is an answer with `isError`, which says what to do.

    Parameters
    ----------
    database : Database
    rights_of : callable
        Returns the rights of a caller as they are now. Raises `DatabaseUnavailable`.
    servers : CallableServers
    identities : Identities
    remote : RemoteTools
    in_flight : CallsInFlight
    limits : Limits
        Of each call.
    traces : Traces, optional
        Takes an event of each call.
    spans : Spans, optional
        Makes a span of each.
    """

    def __init__(
        self,
        database: Database,
        rights_of: Callable[[Caller], Rights],
        servers: CallableServers,
        identities: Identities,
        remote: RemoteTools,
        in_flight: CallsInFlight,
        limits: Limits,
        traces: Traces | None = None,
        spans: Spans | None = None,
    ) -> None:
        self._traces = traces
        self._spans = spans
        self._database = database
        self._rights_of = rights_of
        self._servers = servers
        self._identities = identities
        self._remote = remote
        self._in_flight = in_flight
        self._limits = limits

    async def __call__(self, call: ToolCall, caller: Caller, progress: Progress | None = None) -> JsonObject:
        """Return the result of a call, in the form of ``tools/call``. Ends when it is cancelled."""
        if self._spans is None:
            return await self._traced(call, caller, progress)
        with self._spans.call(call.origin.traceparent) as span:
            return await self._traced(call, caller, progress, span)

    async def _traced(
        self, call: ToolCall, caller: Caller, progress: Progress | None, span: Span | None = None
    ) -> JsonObject:
        began, outcome = time.perf_counter(), "broken"
        tracing = CallTracing(call, caller)
        result: JsonObject | None = None
        try:
            result = await self._answered(call, caller, progress, tracing)
            outcome = "failed" if result.get("isError") is True else "succeeded"
            return result
        except _Refused as refused:
            outcome = refused.outcome
            return failed(str(refused))
        except NotFound:
            outcome = "not_found"
            return failed(_unknown(call))
        except DependencyUnavailable as error:
            outage.note(error)
            outcome = "unavailable"
            return failed(outage.advice(error))
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            took_ms = (time.perf_counter() - began) * 1000.0
            count(Metric.CALLS)
            observe_ms(Metric.CALL_TIME, took_ms)
            if outcome not in {"succeeded", "failed"}:
                count(Metric.CALLS_WITHOUT_ANSWER)
            event = tracing.event(outcome, result, took_ms, self._traces)
            if span is not None and self._spans is not None:
                self._spans.describe(span, event, {})
            if self._traces is not None:
                # Written before the answer goes, also where the caller has gone.
                await asyncio.shield(asyncio.to_thread(self._traces.record, event))
            logger.info("call", extra={"tool_id": call.tool_id, "outcome": outcome, "took_ms": round(took_ms, 1)})

    async def _answered(
        self, call: ToolCall, caller: Caller, progress: Progress | None, tracing: CallTracing
    ) -> JsonObject:
        seconds = self._limits.seconds if call.seconds is None else min(self._limits.seconds, call.seconds)
        if seconds <= 0:
            raise _Refused(Failure.TIMEOUT, "no time is left for the call: try again")
        ends_at = time.monotonic() + seconds
        item, target = await asyncio.to_thread(self._found, call, caller, tracing)
        place = uuid4()
        try:
            if await asyncio.to_thread(self._in_flight.begin, caller, call.key, seconds, place) is None:
                raise _Refused(
                    "too_many",
                    f"{self._in_flight.most} calls of your organisation are under way, as many as may be: "
                    "try again when one has ended",
                )
            limits = Limits(max(0.01, ends_at - time.monotonic()), self._limits.answer_bytes)
            asked = asyncio.create_task(self._asked(call, caller, item, target, limits, progress))
            try:
                await self._ended_or_cancelled(asked, place if call.key is not None else None, ends_at)
                return await asked
            finally:
                if asked.cancel():
                    await asyncio.wait({asked}, timeout=_LETS_GO_S)
        finally:
            await asyncio.shield(asyncio.to_thread(self._make_room, place))

    def _found(self, call: ToolCall, caller: Caller, tracing: CallTracing) -> tuple[Item, Target]:
        """Return the tool and where it is called. Raises `_Refused`, `NotFound` and `DependencyUnavailable`."""
        # Read without rules, which are asked afterwards: searches and lists go by the same ones in another way.
        organisation = replace(caller, rights=EVERYTHING)
        item = self._database.read(lambda session: visible_item(session, call.tool_id, organisation))
        kind, name = item.content.key.type, item.content.key.name
        tracing.found(name, item.content.key.server)
        if not self._may_call(item, self._rights_of(caller)):
            raise _Refused("denied", _unknown(call))
        if item.is_quarantined:
            raise _Refused(
                "quarantined",
                f"the tool {name!r} is not called: its definition changed since it was approved. A caller with scope "
                "catalog can approve it (skillroute trust approve)",
            )
        if not item.is_active:
            raise _Refused("switched_off", f"the tool {name!r} is switched off")
        if kind != "tool":
            raise _Refused("not_a_tool", f"{name!r} is a {kind}, which is not called: its server gives it")
        if call.form == "read" and not only_reads(kind, item.content.annotations):
            raise _Refused(
                "not_read_only",
                f"{name!r} is not declared to change nothing, and call_tool_read calls no other tools: "
                "call_tool_write calls it",
            )
        try:
            return item, self._servers.target(item, caller)
        except NotCallable as error:
            raise _Refused("not_callable", f"{name!r} cannot be called from here: {error}") from None

    def _may_call(self, item: Item, rights: Rights) -> bool:
        if not rights.are_limited:
            return True
        servers = self._database.read(lambda session: ItemRepository(session).rule_servers(item))
        return rights.allows(facts_of_item(item, servers)).allowed

    async def _ended_or_cancelled(self, asked: asyncio.Task[JsonObject], place: UUID | None, ends_at: float) -> None:
        """Wait for a call until its end. Raises `_Refused` where it takes too long, or its caller takes it back."""
        while True:
            left_s = ends_at - time.monotonic()
            wait_s = left_s if place is None else min(left_s, _LOOK_S)
            done, _ = await asyncio.wait({asked}, timeout=max(0.0, wait_s))
            if done:
                return
            if time.monotonic() >= ends_at:
                raise _Refused(Failure.TIMEOUT, _TOO_SLOW)
            if place is not None and await asyncio.to_thread(self._is_cancelled, place):
                raise _Refused(Failure.CANCELLED, "the call was cancelled")

    async def _asked(
        self, call: ToolCall, caller: Caller, item: Item, target: Target, limits: Limits, progress: Progress | None
    ) -> JsonObject:
        """Return what the server answers; refused credentials are renewed once. Raises `_Refused`."""
        credentials = Credentials(session_key=_session_key(caller))
        try:
            if target.server is not None:
                credentials = await asyncio.to_thread(self._identities.credentials, target.server, caller, call.token)
            try:
                return await self._sent(call, item, target, credentials, limits, progress)
            except CallFailed as error:
                if target.server is None or not _wants_other_credentials(error):
                    raise
                renewed = await asyncio.to_thread(
                    self._identities.renewed, target.server, caller, credentials, error.challenge
                )
            return await self._sent(call, item, target, renewed, limits, progress)
        except LoginNeeded as needed:
            raise _Refused("login_needed", await self._way_in(needed, call, caller, target)) from None
        except CallFailed as error:
            raise _Refused(error.failure, str(error)) from None

    async def _sent(
        self,
        call: ToolCall,
        item: Item,
        target: Target,
        credentials: Credentials,
        limits: Limits,
        progress: Progress | None,
    ) -> JsonObject:
        at = target.at
        if isinstance(at, Operation):
            return await self._remote.call_operation(at, call.arguments, credentials=credentials, limits=limits)
        return await self._remote.call(
            at, item.content.key.name, call.arguments, credentials=credentials, limits=limits, progress=progress
        )

    async def _way_in(self, needed: LoginNeeded, call: ToolCall, caller: Caller, target: Target) -> str:
        if not needed.helps or call.base_url is None or target.server is None:
            return str(needed)
        at = (target.server, caller, needed.scopes, call.base_url)
        link = await asyncio.to_thread(self._identities.login_link, *at)
        return str(needed) if link is None else f"{needed}. {LINK_HINT}: {link}"

    def _is_cancelled(self, place: UUID) -> bool:
        try:
            return self._in_flight.is_cancelled(place)
        except DependencyUnavailable as error:
            outage.note(error)
            return False

    def _make_room(self, place: UUID) -> None:
        try:
            self._in_flight.end(place)
        except DependencyUnavailable as error:
            outage.note(error)


def _unknown(call: ToolCall) -> str:
    """Return the same for a tool that is not there, and for one that the caller may not call: it does not see it."""
    return f"no tool has the id {call.tool_id}: search_tools finds tools with their ids"


def _wants_other_credentials(error: CallFailed) -> bool:
    """Return whether a server refused for the sake of credentials, and not for what its caller may do there."""
    if error.failure is Failure.FORBIDDEN:
        return _TOO_LITTLE.search(error.challenge or "") is not None
    return error.failure is Failure.UNAUTHORIZED


def _session_key(caller: Caller) -> str:
    """Return whose a session at a server without an identity is: one caller's."""
    return "\0".join((caller.org_id or "", caller.name or ""))
