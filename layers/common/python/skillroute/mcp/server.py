"""From the bytes of a request to the bytes of its answer, for every revision. No state is kept between requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.answer_size import PAGE_BYTES, on_the_way
from skillroute.core.errors import DatabaseUnavailable, DependencyUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.mcp.headers import Headers
from skillroute.mcp.methods import Methods
from skillroute.mcp.revisions import STATELESS, UNNAMED, Revision
from skillroute.mcp.rpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Message,
    RequestId,
    RpcError,
    failure,
    id_in,
    message_of,
    read_body,
    result,
    to_bytes,
)
from skillroute.mcp.tool import Asked

MOST_OF_BATCH = 10
"""Requests of a batch, which the first revision has."""

_BAD = {PARSE_ERROR: 400, INVALID_REQUEST: 400, HEADER_MISMATCH: 400, UNSUPPORTED_VERSION: 400}
_STATUS_OF_STATELESS = {**_BAD, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}
"""HTTP statuses by the codes of errors; 200 for others. Before 2026-07-28 only what is no request has another one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back over HTTP; a notification has no body."""

    status: int
    body: bytes = b""


class McpServer:
    """Answers requests."""

    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    def answer(self, headers: Headers, body: bytes, asked: Asked) -> Reply:
        """Answer a request, a notification or a batch; whatever goes wrong is an error of the protocol."""
        refused = _refusal(headers)
        if refused is not None:
            return refused
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
            return Reply(202)
        try:
            answer = self._answered(message, asked, revision)
        # What nobody foresaw has a code of the protocol, and rings the alarm that counts such statuses.
        except Exception as error:  # noqa: BLE001
            logger.exception("unexpected error", exc_info=error)
            return Reply(500, to_bytes(failure(message.id, RpcError(INTERNAL_ERROR, "Internal error"))))
        code = answer.get("error", {}).get("code")
        status = (_STATUS_OF_STATELESS if revision == STATELESS else _BAD).get(code, 200)
        return Reply(status, to_bytes(answer))

    def _batch(self, values: Sequence[Any], asked: Asked, revision: Revision) -> Reply:
        """Answer a batch, which one revision alone has."""
        if revision != UNNAMED:
            raise RpcError(INVALID_REQUEST, f"{revision} has no batches: send one request at a time")
        if not 0 < len(values) <= MOST_OF_BATCH:
            raise RpcError(INVALID_REQUEST, f"a batch has 1 to {MOST_OF_BATCH} requests")
        answers: list[bytes] = []
        for value in values:
            answer = self._of_batch(value, asked, revision)
            if answer is not None:
                answers.append(_that_fits(answer, answers))
        return Reply(200, b"[%s]" % b",".join(answers)) if answers else Reply(202)

    def _of_batch(self, value: Any, asked: Asked, revision: Revision) -> dict[str, Any] | None:
        try:
            message = message_of(value)
            if message.method == "initialize":
                raise RpcError(INVALID_REQUEST, "initialize cannot be part of a batch")
        except RpcError as error:
            return failure(id_in(value), error)
        return None if message.is_notification else self._answered(message, asked, revision)

    def _answered(self, message: Message, asked: Asked, revision: Revision) -> dict[str, Any]:
        try:
            return result(message.id, self._methods.answer(message, asked, revision))
        except RpcError as error:
            return failure(message.id, error)
        except DependencyUnavailable as error:
            if isinstance(error, DatabaseUnavailable):
                count(Metric.DATABASE_UNAVAILABLE)
            logger.warning("dependency unavailable", extra={"reason": str(error)})
            return failure(message.id, RpcError(INTERNAL_ERROR, f"{error.public_message}; try again in a few seconds"))


def refused(status: int, message: str, id_: RequestId | None = None) -> Reply:
    """Return the answer to what is not even read."""
    return Reply(status, to_bytes(failure(id_, RpcError(INVALID_REQUEST, message))))


def _that_fits(answer: dict[str, Any], before: Sequence[bytes]) -> bytes:
    """Return an answer of a batch as it is sent: only the first one has room however large it is."""
    data = to_bytes(answer)
    if not before or on_the_way(data) + sum(map(on_the_way, before)) <= PAGE_BYTES:
        return data
    return to_bytes(failure(answer["id"], RpcError(INTERNAL_ERROR, "the answers have no room: send this one alone")))


def _refusal(headers: Headers) -> Reply | None:
    if headers.is_of_another_page:
        return refused(403, "the header Origin names another host than this one")
    if not headers.takes_json:
        return refused(406, "the header Accept must name application/json, which every answer is")
    if not headers.is_json:
        return refused(415, "the header Content-Type must be application/json")
    return None
