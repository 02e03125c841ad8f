"""Calls that another function makes: the event that function `call` gets, and who invokes it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillroute.calling.calls import Calls
from skillroute.calling.in_flight import CallsInFlight
from skillroute.calling.model import JsonObject, Progress
from skillroute.calling.tool_call import ToolCall, failed
from skillroute.calling.traced import CallTracing
from skillroute.core.caller import Caller, Scope
from skillroute.core.observability import logger
from skillroute.core.trace.noted import Origin
from skillroute.core.trace.recorder import Traces

MAX_NOTICES = 100
"""Notices of progress that come with an answer: the first ones and the last."""

_CONNECT_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 902.0  # the function ends before
_THROTTLED = "TooManyRequestsException"


class CallerOfCall(BaseModel):
    """The caller, as the function that identified it passes it on."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    org_id: str | None  # required: an event that names it otherwise must not become a global caller's
    scopes: frozenset[Scope]
    name: str | None = None
    agent: str | None = None
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    is_person: bool = False

    def caller(self) -> Caller:
        """Return it as use cases know it. Its rights are looked up where the call is made."""
        return Caller(**dict(self))

    @classmethod
    def of(cls, caller: Caller) -> CallerOfCall:
        """Return a caller as an event has it."""
        return cls(**{name: getattr(caller, name) for name in cls.model_fields})


class CallEvent(BaseModel):
    """The event of function `call`. Only roles that may invoke the function can send one.

    While a deployment switches versions, an event may have fields of a newer one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    caller: CallerOfCall
    tool_id: int = Field(ge=1, le=2**63 - 1)
    arguments: dict[str, Any] = {}
    form: Literal["any", "read"] = "any"
    token: str | None = Field(None, repr=False)
    key: str | None = None
    seconds: float | None = Field(None, gt=0)
    request_id: str | None = None
    traceparent: str | None = None
    trace_id: str | None = None
    base_url: str | None = None

    def call(self) -> ToolCall:
        """Return the call."""
        origin = Origin("function", self.request_id, self.trace_id, self.traceparent)
        return ToolCall(
            self.tool_id, self.arguments, self.form, self.token, self.key, self.seconds, origin, self.base_url
        )


def event_of(call: ToolCall, caller: Caller) -> JsonObject:
    """Return the event that has a call made for a caller."""
    event = CallEvent(
        caller=CallerOfCall.of(caller),
        tool_id=call.tool_id,
        arguments=call.arguments,
        form=call.form,
        token=call.token,
        key=call.key,
        seconds=call.seconds,
        request_id=call.origin.request_id,
        traceparent=call.origin.traceparent,
        trace_id=call.origin.trace_id,
        base_url=call.base_url,
    )
    return event.model_dump(mode="json")


def answer_event(event: object, calls: Calls, left_s: Callable[[], float]) -> JsonObject:
    """Answer the event of function `call`: the result of the call, and notices of its progress.

    Raises
    ------
    ValidationError
        It is no event of this function.
    """
    read = CallEvent.model_validate(event)
    notices: list[tuple[float, float | None, str | None]] = []

    def note(progress: float, total: float | None, message: str | None) -> None:
        if len(notices) >= MAX_NOTICES:
            notices.pop()
        notices.append((progress, total, message))

    call = read.call()
    seconds = left_s() if call.seconds is None else min(call.seconds, left_s())
    limited = replace(call, seconds=seconds)
    return {"result": calls(limited, read.caller.caller(), note), "progress": notices}


class CallsOfFunction:
    """Has function `call` make the calls.

    Parameters
    ----------
    function : str
        Its name or ARN, with the alias.
    in_flight : CallsInFlight
        Cancels calls: the function looks there.
    endpoint_url : str or None
        None takes that of the region.
    traces : Traces, optional
        Takes events of calls that the function did not make; it records the others itself.
    """

    def __init__(
        self, function: str, in_flight: CallsInFlight, *, endpoint_url: str | None = None, traces: Traces | None = None
    ) -> None:
        self._function = function
        self._in_flight = in_flight
        self._endpoint_url = endpoint_url
        self._traces = traces
        self._client: Any = None

    def __call__(
        self,
        call: ToolCall,
        caller: Caller,
        progress: Progress | None = None,
        is_gone: Callable[[], bool] | None = None,
    ) -> JsonObject:
        """Return the result of a call; notices of its progress come when it has ended."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (0.1 s, paid on first use)

        tracing, began = CallTracing(call, caller), time.perf_counter()

        def lost(outcome: str, answer: JsonObject) -> JsonObject:
            if self._traces is not None:
                took_ms = (time.perf_counter() - began) * 1000.0
                self._traces.record(tracing.event(outcome, answer, took_ms, self._traces))
            return answer

        payload = json.dumps(event_of(call, caller), ensure_ascii=False).encode("utf-8", "backslashreplace")
        try:
            answer = self._lambda().invoke(FunctionName=self._function, Payload=payload)
            body = json.loads(answer["Payload"].read())
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "an error")
            if code == _THROTTLED:
                return lost("too_many", failed("too many calls are under way: try again in a few seconds"))
            return lost("broken", _broken(code))
        except (BotoCoreError, ValueError) as error:
            return lost("broken", _broken(type(error).__name__))
        if "FunctionError" in answer or not isinstance(body, Mapping) or not isinstance(body.get("result"), dict):
            return lost("broken", _broken(str(answer.get("FunctionError", "no result"))))
        if progress is not None:
            for notice in body.get("progress", ()):
                progress(*notice)
        result: JsonObject = body["result"]
        return result

    def cancel(self, key: str) -> None:
        """Cancel the calls of a key. Raises `DependencyUnavailable`."""
        self._in_flight.cancel(key)

    def _lambda(self) -> Any:
        if self._client is None:
            from botocore.config import Config  # noqa: PLC0415
            from botocore.session import Session  # noqa: PLC0415

            # A call that is sent twice may do its work twice.
            config = Config(
                connect_timeout=_CONNECT_TIMEOUT_S, read_timeout=_READ_TIMEOUT_S, retries={"total_max_attempts": 1}
            )
            self._client = Session().create_client("lambda", endpoint_url=self._endpoint_url, config=config)
        return self._client


def _broken(reason: str) -> JsonObject:
    logger.error("function call failed", extra={"reason": reason})
    return failed("the call could not be made: the function that makes calls failed; its log says why")
