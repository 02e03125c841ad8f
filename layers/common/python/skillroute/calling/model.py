"""A call of a tool on the server that offers it: what is called, within which limits, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from skillroute.core.outbound.credentials import Credentials

Transport = Literal["streamable-http", "sse"]

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an MCP server is reached.

    Attributes
    ----------
    url : str
        Of the protocol itself, as the server's document has it under `remotes`.
    transport : str
        ``streamable-http``, or ``sse``, the transport of revision 2024-11-05.
    """

    url: str
    transport: Transport = "streamable-http"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an HTTP interface, as `skillroute import openapi` writes it to ``metadata.http`` of a tool.

    Attributes
    ----------
    method, url, path : str
        The address is `url` followed by `path`, in which ``{name}`` stands for arguments.
    arguments : mapping
        Where each argument goes, by its name: ``{"in": "query", "name": "limit", "style": "form", "explode": True}``.
    """

    method: str
    url: str
    path: str
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a call. `seconds` is for all of it: name lookup, connection, handshake and answer."""

    seconds: float
    answer_bytes: int


class Failure(StrEnum):
    """The reason that a call has no answer of its tool."""

    REFUSED_ADDRESS = "refused_address"  # the host is not on the list, or its address may not be reached
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    PROTOCOL = "protocol"  # what came is not what the protocol says, a redirect among it
    ERROR = "error"  # the server answered with an error of JSON-RPC, or with a status of HTTP
    UNAUTHORIZED = "unauthorized"  # 401: the credentials are missing, wrong or expired
    FORBIDDEN = "forbidden"  # 403
    CANCELLED = "cancelled"


class CallFailed(Exception):
    """A call without an answer of its tool. `str(error)` may be shown to the caller: it has no token and no IP address.

    Attributes
    ----------
    failure : Failure
    challenge : str or None
        The header ``WWW-Authenticate`` of a 401 or 403, for who logs in.
    code : int or None
        Of the error of JSON-RPC, or the status of HTTP.
    """

    def __init__(
        self, failure: Failure, message: str, *, challenge: str | None = None, code: int | None = None
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.challenge = challenge
        self.code = code


Progress = Callable[[float, float | None, str | None], None]
"""Takes how far a call is: progress, total, message; as ``notifications/progress`` has them."""


class RemoteTools(Protocol):
    """Calls tools of servers. Every method is a coroutine that ends when it is cancelled, and tells the server so."""

    async def call(
        self,
        endpoint: Endpoint,
        name: str,
        arguments: JsonObject,
        *,
        credentials: Credentials,
        limits: Limits,
        progress: Progress | None = None,
    ) -> JsonObject:
        """Return the result of ``tools/call`` as it came: content, structured content, `isError`, `_meta`.

        Raises `CallFailed`.
        """
        ...

    async def list_tools(self, endpoint: Endpoint, *, credentials: Credentials, limits: Limits) -> Sequence[JsonObject]:
        """Return all pages of ``tools/list``, as they came. Raises `CallFailed`."""
        ...

    async def call_operation(
        self, operation: Operation, arguments: JsonObject, *, credentials: Credentials, limits: Limits
    ) -> JsonObject:
        """Return the answer of an operation in the form of ``tools/call``: `isError` from status 400 on.

        Raises `CallFailed`.
        """
        ...
