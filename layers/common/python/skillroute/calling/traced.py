"""The event of a call: one for each, by the process that makes it (docs/trace.md)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillroute.calling.model import Failure, JsonObject
from skillroute.core.caller import Caller
from skillroute.core.trace.model import Kind, Outcome, TraceEvent
from skillroute.core.trace.recorder import Traces

if TYPE_CHECKING:
    from skillroute.calling.tool_call import ToolCall

_MADE = frozenset({"succeeded", "failed"})
_WITHOUT_ANSWER = frozenset({*(each.value for each in Failure), "not_found", "unavailable", "login_needed", "broken"})
_BY_A_RULE_OF_NUMBERS = frozenset({"too_many"})


class CallTracing:
    """Gathers what the event of a call has."""

    def __init__(self, call: ToolCall, caller: Caller) -> None:
        self._call = call
        self._caller = caller
        self._name = ""
        self._server: str | None = None

    def found(self, name: str, server: str | None) -> None:
        """Note the tool, which the caller sees."""
        self._name, self._server = name, server

    def event(self, outcome: str, result: JsonObject | None, took_ms: float, traces: Traces | None) -> TraceEvent:
        """Return the event.

        Parameters
        ----------
        outcome : str
            ``succeeded``, ``failed`` where the tool answered with an error, or the reason of a call without an answer.
            A reason that is none of a failure is one of a refusal.
        """
        kind, came_to = _kind_and_outcome(outcome)
        origin = self._call.origin
        return TraceEvent(
            at=datetime.now(UTC),
            kind=kind,
            outcome=came_to,
            caller=self._caller,
            door=origin.door,
            what=self._name or "call_tool",
            took_ms=took_ms,
            code=None if outcome == "succeeded" else "tool_error" if outcome == "failed" else str(outcome),
            targets={"tool": self._call.tool_id, **({"server": self._server} if self._server else {})},
            bytes_in=_size(self._call.arguments),
            bytes_out=0 if result is None else _size(result),
            request_id=origin.request_id,
            trace_id=origin.trace_id,
            arguments=None if traces is None else traces.arguments(self._call.arguments),
        )


def _kind_and_outcome(outcome: str) -> tuple[Kind, Outcome]:
    """Return the kind and the outcome of an event: what a rule refuses is a decision of rights."""
    if outcome == "succeeded":
        return "call", "ok"
    if outcome in _BY_A_RULE_OF_NUMBERS:
        return "call", "refused"
    if outcome in _MADE or (outcome in _WITHOUT_ANSWER and outcome != Failure.REFUSED_ADDRESS):
        return "call", "failed"
    return "refusal", "refused"


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
