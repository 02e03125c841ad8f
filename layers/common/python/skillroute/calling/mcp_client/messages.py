"""Messages of JSON-RPC as a client reads and writes them, and what each revision of the protocol sends with them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from skillroute import __version__
from skillroute.calling.exchange import quoted
from skillroute.calling.model import CallFailed, Failure, JsonObject
from skillroute.core.http.json_values import TooManyValues, UnreadableJson, read_json

STATELESS = "2026-07-28"
"""The revision whose requests carry everything themselves."""

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`, the oldest first."""

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "skillroute", "version": __version__}
_MAX_VALUES = 300_000
_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_ENCODED = re.compile(r"=\?base64\?.*\?=")


def to_bytes(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON on the wire."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def request(id_: int, method: str, params: Mapping[str, Any]) -> JsonObject:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> JsonObject:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": dict(params)})


def initialize(id_: int) -> JsonObject:
    """Return the request that begins a session; the server answers with the revision that it prefers to the newest."""
    params = {"protocolVersion": HANDSHAKE[-1], "capabilities": {}, "clientInfo": _CLIENT}
    return request(id_, "initialize", params)


def stateless(message: JsonObject) -> JsonObject:
    """Return a request with what the stateless revision has in each."""
    own = {
        f"{_META}protocolVersion": STATELESS,
        f"{_META}clientCapabilities": {},
        f"{_META}clientInfo": _CLIENT,
    }
    params = message["params"]
    return message | {"params": params | {"_meta": {**params.get("_meta", {}), **own}}}


def stateless_headers(message: JsonObject) -> dict[str, str]:
    """Return the headers that repeat what gateways route by."""
    headers = {"mcp-protocol-version": STATELESS, "mcp-method": message["method"]}
    if message["method"] == "tools/call":
        headers["mcp-name"] = header_value(message["params"]["name"])
    return headers


def header_value(text: str) -> str:
    """Return a text as a header's value: as it is, or in base64 where it would not survive.

    Examples
    --------
    >>> header_value("create_event"), header_value("überall")
    ('create_event', '=?base64?w7xiZXJhbGw=?=')
    """
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}?="


def read_messages(body: bytes, host: str) -> list[JsonObject]:
    """Return the messages of a body: one, or those of a batch, which revision 2025-03-26 has.

    Raises
    ------
    CallFailed
        It is no JSON, holds too many values, or other than objects.
    """
    try:
        value = read_json(body, _MAX_VALUES, _no_number)
    except TooManyValues:
        raise CallFailed(Failure.TOO_LARGE, f"{host} answers with more than {_MAX_VALUES:,} values") from None
    except (json.JSONDecodeError, UnreadableJson):
        shown = quoted(body[:1000].decode("utf-8", "replace"))
        raise CallFailed(Failure.PROTOCOL, f"{host} answers with what is not JSON: {shown}") from None
    messages = value if isinstance(value, list) else [value]
    if not all(isinstance(message, dict) for message in messages):
        raise CallFailed(Failure.PROTOCOL, f"{host} answers with JSON that is no message of the protocol")
    return messages


def answers(message: JsonObject, id_: int) -> bool:
    """Return whether a message is the answer to a request; an error without an id is, where the answer is awaited."""
    if "method" in message:
        return False
    found = message.get("id")
    if found is None:
        return "error" in message
    # Some servers make a text of it.
    return (type(found) is int and found == id_) or found == str(id_)


def result_of(message: JsonObject, host: str) -> JsonObject:
    """Return the result of an answer.

    Raises
    ------
    CallFailed
        It is an error, or asks for more than a client without capabilities has.
    """
    error = message.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        number = code if type(code) is int else None
        text = f"{host} answers with error {quoted(code)}: {quoted(error.get('message', ''))}"
        raise RpcFailed(text, number, error.get("data"))
    result = message.get("result")
    if not isinstance(result, dict):
        raise CallFailed(Failure.PROTOCOL, f"{host} answers with neither a result nor an error")
    if result.get("resultType", "complete") != "complete":
        raise CallFailed(Failure.PROTOCOL, f"{host} asks for input of its user before it answers, which it cannot get")
    return result


class RpcFailed(CallFailed):
    """An error of JSON-RPC, with its data."""

    def __init__(self, message: str, code: int | None, data: Any) -> None:
        super().__init__(Failure.ERROR, message, code=code)
        self.data = data


def _no_number(name: str) -> Any:
    raise UnreadableJson(name)
