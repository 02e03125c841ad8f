"""From the bytes of a request to the bytes of its answer, for every revision. No state is kept between requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from skillroute.core.errors import outage
from skillroute.core.errors.model import BudgetSpent, DependencyUnavailable
from skillroute.core.observability import logger
from skillroute.core.trace.noted import noting_message
from skillroute.mcp.batch import BatchAnswers
from skillroute.mcp.cost import check_batch
from skillroute.mcp.headers import Headers
from skillroute.mcp.methods import Methods
from skillroute.mcp.revisions import STATELESS, UNNAMED, Revision
from skillroute.mcp.rpc import (
    BUDGET_SPENT,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_BYTES,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Message,
    RpcError,
    failure,
    id_in,
    message_of,
    notification,
    quoted,
    read_body,
    result,
    to_bytes,
)
from skillroute.mcp.tool import GROUPS, Asked

TRACED_TOOLS = frozenset(
    {"search_tools", "search_servers_and_agents", "search_skills", "search_messages", "search_messages_product"}
)
"""Tools that search; a call of another server's tool is traced where it is made."""

MAX_PER_BATCH = 10
"""Requests of a batch, which the first revision has."""

_BAD = {PARSE_ERROR: 400, INVALID_REQUEST: 400, HEADER_MISMATCH: 400, UNSUPPORTED_VERSION: 400}
_STATUS_OF_STATELESS = {**_BAD, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404, BUDGET_SPENT: 429}
"""HTTP statuses by the codes of errors; 200 for others. Before 2026-07-28 only what is no request has another one."""


TOO_LARGE = to_bytes(failure(None, RpcError(INVALID_REQUEST, f"the body is larger than {MAX_BYTES} bytes")))
"""The answer to a body of which nothing else is looked at, whether it is read to its end or not."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply; a notification has no body, and the greeting may give the client a session."""

    status: int
    body: bytes = b""
    retry_after_s: int | None = None
    session: str | None = None


def spent(error: BudgetSpent) -> Reply:
    """Return the answer to a request that is not even read: so many of its organisation's are under way."""
    return Reply(429, to_bytes(failure(None, _spent(error))), error.retry_after_s)


class McpServer:
    """Answers requests."""

    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    def answer(self, headers: Headers, body: bytes, asked: Asked) -> Reply:
        """Answer a request, a notification or a batch; any failure is an error of the protocol."""
        refusal = _refusal(headers, asked)
        if refusal is not None:
            return refusal
        if len(body) > MAX_BYTES:
            return Reply(413, TOO_LARGE)
        value: Any = None
        try:
            value = read_body(body)
            revision = headers.revision(value)
            if isinstance(value, list):
                return self._batch(value, asked, revision)
            message = message_of(value)
            if revision == STATELESS and not message.is_notification:
                headers.check(message)
        except RpcError as error:
            return Reply(_STATUS_OF_STATELESS.get(error.code, 400), to_bytes(failure(id_in(value), error)))
        if message.is_notification:
            self._methods.notified(message, asked)
            return Reply(202)
        answer, is_unforeseen = self._answered(message, asked, revision)
        code = answer.get("error", {}).get("code")
        status = (_STATUS_OF_STATELESS if revision == STATELESS else _BAD).get(code, 200)
        # An unexpected error rings the alarm that counts such statuses.
        retry_after_s = answer["error"]["data"]["retryAfterSeconds"] if status == 429 else None
        # Nothing is kept of a session: its name tells the requests of one client from those of another.
        session = uuid4().hex if message.method == "initialize" and self._methods.has_sessions else None
        return Reply(500 if is_unforeseen else status, to_bytes(answer), retry_after_s, session)

    def _batch(self, values: Sequence[Any], asked: Asked, revision: Revision) -> Reply:
        """Answer a batch, which one revision alone has."""
        if revision != UNNAMED:
            raise RpcError(INVALID_REQUEST, f"{revision} has no batches: send one request at a time")
        if not 0 < len(values) <= MAX_PER_BATCH:
            raise RpcError(INVALID_REQUEST, f"a batch has 1 to {MAX_PER_BATCH} requests")
        check_batch(filter(None, map(_readable, values)))
        answers = BatchAnswers(values)
        for place, value in enumerate(values):
            try:
                message = _of_batch(value)
            except RpcError as error:
                answers.add(place, failure(id_in(value), error))
                continue
            if message.is_notification:
                answers.pass_over(place)
            elif answers.is_full:
                answers.refuse(place)
            else:
                answers.add(place, self._answered(message, asked, revision)[0])
        body = answers.to_bytes()
        return Reply(202) if body is None else Reply(200, body)

    def _answered(self, message: Message, asked: Asked, revision: Revision) -> tuple[dict[str, Any], bool]:
        """Return the response to a request, and whether it is an unexpected error."""
        name, arguments = called_tool(message)
        with noting_message(name, arguments) as noted:
            answer, is_unforeseen = self._tried(message, asked, revision)
            error = answer.get("error")
            if error is not None:
                noted.outcome = "refused" if error["code"] == BUDGET_SPENT else "failed"
                noted.code = str(error["code"])
            elif isinstance(answer["result"], dict) and answer["result"].get("isError") is True:
                noted.outcome, noted.code = "failed", "tool_error"
        return answer, is_unforeseen

    def _tried(self, message: Message, asked: Asked, revision: Revision) -> tuple[dict[str, Any], bool]:
        try:
            return result(message.id, self._methods.answer(message, _asked_by(message, asked), revision)), False
        except BudgetSpent as error:
            return failure(message.id, _spent(error)), False
        except RpcError as error:
            return failure(message.id, error), False
        except DependencyUnavailable as error:
            outage.note(error)
            return failure(message.id, RpcError(INTERNAL_ERROR, outage.advice(error))), False
        except Exception as error:  # noqa: BLE001
            logger.exception("unexpected error", exc_info=error)
            return failure(message.id, RpcError(INTERNAL_ERROR, "Internal error")), True


def called_tool(message: Message) -> tuple[str | None, object]:
    """Return the name of the tool that a request calls, as far as it may be one of ours, and its arguments."""
    name = message.params.get("name") if message.method == "tools/call" else None
    return (name, message.params.get("arguments")) if isinstance(name, str) and name in TRACED_TOOLS else (None, None)


def _asked_by(message: Message, asked: Asked) -> Asked:
    """Return who asks with which request, and what takes notices of its progress, where it says by which token."""
    if message.method != "tools/call":
        return asked
    token = (
        message.params.get("_meta", {}).get("progressToken") if isinstance(message.params.get("_meta"), dict) else None
    )
    notices = asked.notices if isinstance(token, str | int) else None

    def note(progress: float, total: float | None, text: str | None) -> None:
        given = {"progressToken": token, "progress": progress, "total": total, "message": text}
        known = {name: value for name, value in given.items() if value is not None}
        if notices is not None:
            notices(to_bytes(notification("notifications/progress", known)))

    return replace(asked, request_id=message.id, progress=None if notices is None else note)


def _spent(error: BudgetSpent) -> RpcError:
    return RpcError(BUDGET_SPENT, str(error), {"retryAfterSeconds": error.retry_after_s})


def _readable(value: Any) -> Message | None:
    try:
        return message_of(value)
    except RpcError:
        return None


def _of_batch(value: Any) -> Message:
    message = message_of(value)
    if message.method == "initialize":
        raise RpcError(INVALID_REQUEST, "initialize cannot be part of a batch")
    return message


def _refused(status: int, message: str) -> Reply:
    """Return the answer to what is not even read."""
    return Reply(status, to_bytes(failure(None, RpcError(INVALID_REQUEST, message))))


def _refusal(headers: Headers, asked: Asked) -> Reply | None:
    if unknown := sorted(asked.groups.difference(GROUPS)):
        return _refused(400, f"the parameter tools of the URL may name {', '.join(GROUPS)}, not {quoted(unknown[0])}")
    if headers.is_of_another_page:
        return _refused(403, "the header Origin names another host than this one")
    if not headers.takes_json:
        return _refused(406, "the header Accept must name application/json, which every answer is")
    if not headers.is_json:
        return _refused(415, "the header Content-Type must be application/json")
    return None
