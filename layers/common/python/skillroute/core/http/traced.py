"""Events of HTTP requests: which requests are some, and when they are recorded (docs/trace.md)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillroute.core.caller import Caller
from skillroute.core.http.request_id import request_id_of
from skillroute.core.observability import Metric, count
from skillroute.core.trace.model import Kind, Outcome, TraceEvent
from skillroute.core.trace.noted import Noted, NotedMessage, noting
from skillroute.core.trace.recorder import Traces

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from skillroute.core.tracing import Spans

_DOOR = "/mcp"
_SEARCHES = re.compile(r"/api/v1/search(/|$)|/api/v1/tools/search_")
_REPORTS = re.compile(r"/api/v1/feedback(/|$)")
"""Agents report on searches; mcp.outcomes has who reported what."""

_ID = re.compile(r"[0-9]{1,19}")
_TRIED = re.compile(rb"(?:^|&)dry_run=(?:true|1|yes|on)(?:&|$)", re.IGNORECASE)
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_REFUSED = frozenset({401, 403, 429})
_INTERNAL_ERROR = "-32603"  # of JSON-RPC

_THREADS = 20
"""Events that are written at once: a database that is slow holds up no thread of searches."""


@dataclass(slots=True)
class _Exchange:
    """A request and its answer, as far as they have come."""

    scope: Scope
    notes: Noted
    began: float = field(default_factory=time.perf_counter)
    status: int = 500
    bytes_in: int = 0
    bytes_out: int = 0
    is_over: bool = False
    span: Span | None = None

    @property
    def caller(self) -> Caller | None:
        found: Caller | None = self.scope.get("state", {}).get("caller")
        return found

    @property
    def template(self) -> str | None:
        """The path of the route, with names in place of ids; None where no route has the path."""
        route = self.scope.get("route")
        if route is not None:
            path: str | None = getattr(route, "path", None)
            return path
        return _DOOR if self.scope["path"] == _DOOR else None

    @property
    def took_ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000.0


class Watch(NamedTuple):
    """The recorder of events and the maker of spans; None where there are none."""

    events: Traces | None = None
    spans: Spans | None = None


class Traced:
    """ASGI middleware that records the events of requests before the end of their answers is sent.

    Parameters
    ----------
    app : ASGIApp
    watch : callable
        Returns what takes events, and what makes spans.
    """

    def __init__(self, app: ASGIApp, watch: Callable[[], Watch]) -> None:
        self._app = app
        self._watch = watch
        self._threads: RunVar[CapacityLimiter] = RunVar("trace")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        watch = self._watch()  # with neither, refused and failed searches are counted all the same
        scope.setdefault("state", {})  # copies of the scope further in share it
        exchange = _Exchange(scope, _notes(scope))
        with noting(exchange.notes):
            if watch.spans is None:
                await self._answered(exchange, watch, receive, send)
                return
            with watch.spans.request(scope["method"], exchange.notes.traceparent) as span:
                if ids := watch.spans.ids_of(span):
                    exchange.notes.trace_id, exchange.notes.traceparent = ids
                exchange.span = span
                await self._answered(exchange, watch, receive, send)

    async def _answered(self, exchange: _Exchange, watch: Watch, receive: Receive, send: Send) -> None:
        waiting: list[Message] = []

        async def counted() -> Message:
            message = await receive()
            exchange.bytes_in += len(message.get("body", b""))
            return message

        async def held(message: Message) -> None:
            # The start waits for the first part of the body, and so for the event where that is all of it.
            waiting.append(message)
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                return
            exchange.bytes_out += len(message.get("body", b""))
            if not message.get("more_body", False):
                await self._record(watch, exchange)
            while waiting:
                await send(waiting.pop(0))

        try:
            await self._app(exchange.scope, counted, held)
        finally:
            if not exchange.is_over:  # it failed, or its client has gone
                with CancelScope(shield=True):
                    await self._record(watch, exchange)

    async def _record(self, watch: Watch, exchange: _Exchange) -> None:
        for event in _events_at_end(exchange, watch):
            traces = watch.events
            if traces is None:
                return
            if event.kind == "search":
                traces.record(event)
                continue
            threads = self._threads.get(None)
            if threads is None:
                self._threads.set(threads := CapacityLimiter(_THREADS))
            await to_thread.run_sync(traces.record, event, limiter=threads)


def _events_at_end(exchange: _Exchange, watch: Watch) -> list[TraceEvent]:
    """Return the events of a request that is answered, and end its span's description."""
    exchange.is_over = True
    events = list(_events(exchange, watch.events))
    if watch.spans is not None and exchange.span is not None:
        more: dict[str, str | int] = {
            "http.request.method": exchange.scope["method"],
            "http.response.status_code": exchange.status,
        }
        template = exchange.template
        if template is not None:
            more["http.route"] = template
            exchange.span.update_name(f"{exchange.scope['method']} {template}")
        watch.spans.describe(exchange.span, events[0] if events else None, more)
    return events


def _notes(scope: Scope) -> Noted:
    given = next((value for name, value in scope["headers"] if name == b"traceparent"), b"").decode("latin-1")
    found = _TRACEPARENT.fullmatch(given)
    trace_id = None if found is None else found[1]
    return Noted(request_id_of(scope) or None, trace_id, None if found is None else given)


def _events(exchange: _Exchange, traces: Traces | None) -> Iterator[TraceEvent]:
    caller, template = exchange.caller, exchange.template
    if caller is None or template is None:  # of no known sender, or for what is not there
        return
    kind = _kind(exchange, template)
    if _SEARCHES.match(template):
        _count(exchange.status in _REFUSED, exchange.status >= 500)
    if template == _DOOR and kind != "refusal":
        for message in exchange.notes.messages:
            if message.tool is not None and message.tool.startswith("search_"):
                _count(message.outcome == "refused", message.code == _INTERNAL_ERROR)
                yield _of_message(exchange, caller, message, traces)
        return
    if kind is not None:
        code = exchange.notes.code or ("internal_error" if exchange.status >= 500 else None)
        yield TraceEvent(
            at=datetime.now(UTC),
            kind=kind,
            outcome=_outcome(exchange.status),
            caller=caller,
            door="mcp" if template == _DOOR else "http",
            what=f"{exchange.scope['method']} {template}",
            took_ms=exchange.took_ms,
            code=code,
            targets=_targets(exchange.scope.get("path_params", {})),
            bytes_in=exchange.bytes_in,
            bytes_out=exchange.bytes_out,
            search_id=exchange.notes.search_id,
            request_id=exchange.notes.request_id,
            trace_id=exchange.notes.trace_id,
        )


def _count(is_refused: bool, is_failed: bool) -> None:
    """Count a search that was refused or failed; one that was answered has been counted where it was."""
    if is_refused:
        count(Metric.SEARCH_REFUSED)
    elif is_failed:
        count(Metric.SEARCH_FAILED)


def _of_message(exchange: _Exchange, caller: Caller, message: NotedMessage, traces: Traces | None) -> TraceEvent:
    is_alone = len(exchange.notes.messages) == 1
    outcome: Outcome = "refused" if message.outcome == "refused" else "failed" if message.outcome == "failed" else "ok"
    return TraceEvent(
        at=message.at + timedelta(milliseconds=message.took_ms),
        kind="search",
        outcome=outcome,
        caller=caller,
        door="mcp",
        what=message.tool or "",
        took_ms=message.took_ms,
        code=message.code,
        bytes_in=exchange.bytes_in if is_alone else None,
        bytes_out=exchange.bytes_out if is_alone else None,
        search_id=message.search_id,
        request_id=exchange.notes.request_id,
        trace_id=exchange.notes.trace_id,
        arguments=None if traces is None else traces.arguments(message.arguments),
    )


def _kind(exchange: _Exchange, template: str) -> Kind | None:
    """Return what kind of event a request is; None where it is none."""
    if exchange.status == 403:
        return "refusal"
    if _SEARCHES.match(template):
        return "search"
    if exchange.scope["method"] in {"GET", "HEAD", "OPTIONS"} or _REPORTS.match(template):
        return None
    return None if _TRIED.search(exchange.scope.get("query_string", b"")) else "change"


def _outcome(status: int) -> Outcome:
    return "ok" if status < 400 else "refused" if status in _REFUSED else "failed"


def _targets(given: dict[str, object]) -> dict[str, int | str]:
    """Return the ids of a path with their kinds; an item is a tool, as most are."""
    found: dict[str, int | str] = {}
    for name, value in given.items():
        kind = name.removesuffix("_id").removesuffix("_name")
        text = str(value)
        found["tool" if kind == "item" else kind] = int(text) if _ID.fullmatch(text) else text
    return found
