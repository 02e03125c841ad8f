"""A call and its attempts, without input or output: what drives it sends requests and waits, in its own way.

So there is one definition for the client that blocks and the one that does not.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import httpx
import pydantic_core
from pydantic import ValidationError

from skillroute_client.calls import Call, Calls
from skillroute_client.connection import Connection
from skillroute_client.errors import Refusal, SkillrouteError, UnexpectedAnswer, Unreachable, api_error, problems_of
from skillroute_client.models.base import Answer
from skillroute_client.retrying import Repeat, Retry, retry_after_s

T = TypeVar("T")

_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)
_PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Pause:
    """Asks the driver to wait, in seconds."""

    seconds: float


Step = httpx.Request | Pause
Outcome = httpx.Response | httpx.TransportError | None
Exchange = Generator[Step, Outcome, T]


def exchange(call: Call[T], connection: Connection, retry: Retry) -> Exchange[T]:
    """Yield the requests and pauses of a call, take what came of each, and return the result.

    Raises
    ------
    ApiError
        The last answer is an error.
    Unreachable
        There was no answer.
    UnexpectedAnswer
        It is none of Skillroute's.
    """
    content = None if call.body is None else pydantic_core.to_json(call.body)
    attempt = 0
    unsure = False  # an earlier attempt may have done what was asked
    while True:
        attempt += 1
        # Each attempt is signed at its own time, and asks for the token of its own time.
        outcome = yield connection.request(call.method, call.path, _query(call.params), content, call.headers)
        if isinstance(outcome, httpx.Response):
            connection.has_answered = True
            if outcome.is_success or outcome.status_code in call.accepted:
                return _marked(_read(call, outcome), repeated=unsure)
            failure: SkillrouteError = api_error(_refusal(call, outcome))
            if unsure and outcome.status_code == 404 and call.method == "DELETE":
                return _read(call, httpx.Response(204))  # the earlier attempt deleted it
            pause_s = _pause_after_refusal(call, outcome, retry, attempt)
            unsure = unsure or (outcome.status_code >= 500 and not _nothing_done(outcome))
        else:
            failure = Unreachable(f"{connection.url} does not answer: {_described(outcome)} ({call})")
            failure.__cause__ = outcome
            pause_s = _pause_after_silence(call, outcome, retry, attempt, has_answered=connection.has_answered)
            unsure = unsure or not isinstance(outcome, _UNSENT)
        if pause_s is None:
            raise failure
        yield Pause(pause_s)


def exchange_all(calls: Calls[T], connection: Connection, retry: Retry) -> Exchange[T]:
    """Yield the requests and pauses of one call after the other, hand each its answer, and return the result of all.

    Raises
    ------
    SkillrouteError
        What `exchange` raises of the call that failed; those before it were made.
    """
    answer: Any = None
    while True:
        try:
            call = calls.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        answer = yield from exchange(call, connection, retry)


def _marked(result: T, *, repeated: bool) -> T:
    if repeated and isinstance(result, Answer):
        result.mark_repeated()
    return result


def _read(call: Call[T], response: httpx.Response) -> T:
    try:
        return call.read(response)
    except (ValidationError, ValueError) as error:
        kind = response.headers.get("content-type", "no content type")
        raise UnexpectedAnswer(
            f"the answer to {call} is not Skillroute's ({response.status_code}, {kind}): is the URL right? {error}"
        ) from error


def _pause_after_refusal(call: Call[Any], response: httpx.Response, retry: Retry, attempt: int) -> float | None:
    status = response.status_code
    asked_s = retry_after_s(response.headers.get("retry-after"))
    allowed = call.repeat is Repeat.ALWAYS or (call.repeat is Repeat.IF_REFUSED and _nothing_done(response))
    return retry.pause_s(attempt, asked_s) if status in _PASSING and allowed else None


def _nothing_done(response: httpx.Response) -> bool:
    """Return whether a refusal that may pass says for certain that nothing was changed.

    Of a 503 with ``Retry-After`` Skillroute knows it. A gateway's may come while a function works.
    """
    known = response.status_code == 503 and retry_after_s(response.headers.get("retry-after")) is not None
    return response.status_code == 429 or (known and "code" in object_of(response))


def _pause_after_silence(
    call: Call[Any], error: httpx.TransportError | None, retry: Retry, attempt: int, *, has_answered: bool
) -> float | None:
    # Not after a timeout: it would take as long once more.
    passing = isinstance(error, _UNSENT) or (isinstance(error, _BROKEN) and call.repeat is Repeat.ALWAYS)
    return retry.pause_s(attempt, has_answered=has_answered) if passing and call.repeat is not Repeat.NEVER else None


def _refusal(call: Call[Any], response: httpx.Response) -> Refusal:
    body = object_of(response)
    detail = body.get("detail", body.get("message"))
    problems = problems_of(detail)
    if problems:
        detail = "; ".join(f"{problem.field}: {problem.msg}" for problem in problems)
    return Refusal(
        status=response.status_code,
        call=str(call),
        detail=str(detail or response.text[:200] or response.reason_phrase),
        code=body.get("code"),
        request_id=body.get("request_id") or response.headers.get("x-request-id"),
        current=body.get("current") or response.headers.get("etag"),
        retry_after_s=retry_after_s(response.headers.get("retry-after")),
        problems=problems,
    )


def object_of(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of an answer, an empty one where it is something else."""
    try:
        value = response.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _query(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: _parameter(value) for name, value in params.items() if value is not None}


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(str, value))
    return str(value)


def _described(error: httpx.TransportError | None) -> str:
    return str(error) or type(error).__name__
