"""The headers of a request: which revision it is of, and whether they say what the body says.

From 2026-07-28 on a request repeats in headers what gateways route by (version, method, name), and a server refuses one
that contradicts itself: else a gateway would decide on something else than what is carried out.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

from skillroute.mcp.revisions import ALL, HANDSHAKE, STATELESS, UNNAMED, Revision, revision_of
from skillroute.mcp.rpc import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, Message, RpcError, quoted

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

_VERSION = "mcp-protocol-version"
_METHOD = "mcp-method"
_NAME = "mcp-name"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header `Mcp-Name` repeats, by method."""
_MAX_SESSION = 128
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


class Headers:
    """The headers of a request.

    Parameters
    ----------
    given : iterable of (str, str)
        As they came, repeated ones too.
    """

    def __init__(self, given: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in given:
            self._values.setdefault(name.lower(), []).append(value)

    def get(self, name: str) -> str | None:
        """Return the first value of a header, None where there is none."""
        return self._values.get(name, [None])[0]

    @property
    def is_json(self) -> bool:
        """Whether the body says that it is JSON."""
        return (self.get("content-type") or "").partition(";")[0].strip().lower() == "application/json"

    @property
    def takes_json(self) -> bool:
        """Whether the client takes JSON as the answer; one that does not say takes anything."""
        kinds = [part.partition(";")[0].strip().lower() for part in (self.get("accept") or "*/*").split(",")]
        return not {"application/json", "application/*", "*/*"}.isdisjoint(kinds)

    @property
    def takes_stream(self) -> bool:
        """Whether the client takes a stream of events, too, as it says in so many words."""
        return "text/event-stream" in (self.get("accept") or "").lower()

    @property
    def session(self) -> str | None:
        """The session that the client says it is in."""
        named = self.get("mcp-session-id")
        return named if named and len(named) <= _MAX_SESSION else None

    @property
    def is_of_another_page(self) -> bool:
        """Whether a browser sends it for a page of another host, which could stand in for the user."""
        origin, host = self.get("origin"), (self.get("host") or "").lower()
        return origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}

    def revision(self, body: Any) -> Revision:
        """Return the revision that a request is of.

        Raises
        ------
        RpcError
            The version is one that is not spoken here, or the body names another one than the header.
        """
        named = self.get(_VERSION)
        if named is None:
            if VERSION_KEY in _meta_of(body):
                raise RpcError(HEADER_MISMATCH, "the header MCP-Protocol-Version is missing")
            return UNNAMED
        revision = revision_of(named)
        is_repeated = _meta_of(body).get(VERSION_KEY, named) == named
        if revision is not None and not is_repeated:
            raise RpcError(HEADER_MISMATCH, f"the header MCP-Protocol-Version must be what {VERSION_KEY} is")
        if revision is None and is_repeated:
            raise RpcError(
                UNSUPPORTED_VERSION, "Unsupported protocol version", {"supported": list(ALL), "requested": named[:64]}
            )
        return revision or STATELESS

    def check(self, message: Message) -> None:
        """Refuse a request of the stateless revision that lacks what it must carry, or contradicts itself.

        Raises
        ------
        RpcError
            Names the header or the key of `_meta`.
        """
        meta = message.params.get("_meta")
        if not isinstance(meta, dict):
            raise RpcError(INVALID_PARAMS, f"params._meta must be an object with {VERSION_KEY} and {CAPABILITIES_KEY}")
        missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
        if missing:
            raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
        if not isinstance(meta[CAPABILITIES_KEY], dict):
            raise RpcError(INVALID_PARAMS, f"params._meta: {CAPABILITIES_KEY} must be an object")
        for header in (_VERSION, _METHOD, _NAME):
            if len(self._values.get(header, ())) > 1:
                raise RpcError(HEADER_MISMATCH, f"the header {header} appears more than once")
        if self.get(_VERSION) != meta[VERSION_KEY]:
            raise RpcError(HEADER_MISMATCH, f"the header MCP-Protocol-Version must be what {VERSION_KEY} is")
        if self.get(_METHOD) != message.method:
            raise RpcError(HEADER_MISMATCH, f"the header Mcp-Method must be {quoted(message.method)}")
        self._check_name(message)

    def _check_name(self, message: Message) -> None:
        parameter = _NAMED_BY.get(message.method)
        named = None if parameter is None else message.params.get(parameter)
        if named is not None and _decoded(self.get(_NAME)) != named:
            raise RpcError(HEADER_MISMATCH, f"the header Mcp-Name must be the request's params.{parameter}")


def handshake(wanted: object) -> Revision:
    """Return the revision to answer `initialize` with: the one that is asked for, else the newest that begins so."""
    return next((revision for revision in HANDSHAKE if revision == wanted), HANDSHAKE[-1])


def _meta_of(body: Any) -> dict[str, Any]:
    params = body.get("params") if isinstance(body, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _decoded(value: str | None) -> str | None:
    """Return a header's value, of one in base64 what it encodes; None where that is malformed."""
    found = None if value is None else _ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        data = base64.b64decode(found[1], validate=True)
        return data.decode("utf-8") if base64.b64encode(data).decode("ascii") == found[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None
