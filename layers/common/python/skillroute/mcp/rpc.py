"""JSON-RPC 2.0 as the Model Context Protocol uses it: reading requests, writing answers, and the errors by their codes.

An answer's bytes depend on what it says alone: keys keep the order in which they were put together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from skillroute.core.http.json_values import TooManyValues, UnreadableJson, read_json
from skillroute.core.input.encodable import encodable

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25
BUDGET_SPENT = -32029  # ours; the SDKs have taken -32000 and -32001, as which theirs end a request that took too long
HEADER_MISMATCH = -32020  # from 2026-07-28 on
UNSUPPORTED_VERSION = -32022

MAX_BYTES = 1024 * 1024
"""Bytes of a request."""

MAX_VALUES = 15_000
"""Texts, numbers, objects and lists of a request, at any depth."""

_MAX_QUOTED = 200  # characters of what the caller sent that a message repeats

RequestId = str | int
Params = Mapping[str, Any]


class RpcError(Exception):
    """A request that is answered with an error of the protocol.

    Parameters
    ----------
    code : int
    message : str
        A sentence that callers may see.
    data : Any
        What the specification adds for the code, where it does.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    params: Params = field(default_factory=dict)
    id: RequestId | None = None

    @property
    def is_notification(self) -> bool:
        """Whether no answer is expected."""
        return self.id is None


def read_body(body: bytes) -> Any:
    """Parse a body.

    Raises
    ------
    RpcError
        It is no JSON: not UTF-8, nested too deeply, with numbers that are none; or has too many values.
    """
    try:
        return read_json(body, MAX_VALUES, _no_number)
    except TooManyValues as error:
        raise RpcError(INVALID_REQUEST, f"the body {error}") from None
    except json.JSONDecodeError as error:
        reason = f"the body is not JSON: {error.msg} at character {error.pos}"
    except UnreadableJson as error:
        reason = str(error)
    raise RpcError(PARSE_ERROR, reason)


def message_of(value: Any) -> Message:
    """Return the request or notification that a value of JSON is.

    Raises
    ------
    RpcError
        It is neither; with the code of an invalid request.
    """
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "a request is an object with jsonrpc, id, method and params")
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"')
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "method must be a string: this server sends no requests that could be answered")
    if "id" in value and not _is_id(value["id"]):
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS if "id" in value else INVALID_REQUEST, "params must be an object")
    return Message(method, params, value.get("id"))


def id_in(value: Any) -> RequestId | None:
    """Return the id of what may be a request, to answer it by; None where it has none that can be repeated."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if _is_id(found) else None


def result(id_: RequestId | None, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response to a request that succeeded."""
    return {"jsonrpc": "2.0", "id": id_, "result": answer}


def notification(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message that is sent without being asked for."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def failure(id_: RequestId | None, error: RpcError) -> dict[str, Any]:
    """Return the response to a request that failed."""
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": error.code, "message": error.message, **data}}


def to_bytes(value: Any) -> bytes:
    """Return a value as JSON on the wire; half of a surrogate pair, which an id may hold, as an escape."""
    return to_text(value).encode("utf-8", "backslashreplace")


def to_text(value: Any) -> str:
    """Return a value as JSON without blanks, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def quoted(text: object) -> str:
    """Return of a text that the caller chose what a message repeats of it."""
    shown = encodable(str(text))
    return repr(shown if len(shown) <= _MAX_QUOTED else f"{shown[:_MAX_QUOTED]}...")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


def _no_number(name: str) -> NoReturn:
    raise UnreadableJson(f"{name} is no number of JSON")
