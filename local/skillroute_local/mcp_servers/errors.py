"""Errors of MCP servers, in sentences that begin with the server's name and end with the remedy.

A number that a server sends may be one that the SDK uses for its own troubles. So what came from the server is marked
as it is received (`FromServer`, `HttpStatus`), and an error without a mark is the client's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from skillroute_local.mcp_servers.messages import TOO_LONG
from skillroute_local.mcp_servers.model import LoginNeededError, McpServer, ServerError, StdioServer
from skillroute_local.terminal_text import harmless

_MAX_REASON = 300
_STREAM_ENDED = "SSE stream"
"""How the SDK's messages begin about an answer whose stream ended before it."""
_STREAM_FAILED = "SSE stream failed: "
_STREAM_ENDS = ("SSE stream ended without a response", "SSE stream ended and reconnection attempts were exhausted")


@dataclass(frozen=True, slots=True)
class FromServer:
    """The data of an error that the server sent, whatever its code: never taken for the client's own."""

    data: Any


@dataclass(frozen=True, slots=True)
class HttpStatus:
    """The data of an error that stands for an HTTP status, whose body is no answer of MCP.

    Attributes
    ----------
    is_session_lost : bool
        The server does not know the session: the request was not carried out.
    remedy : str
        What is to be done about it, where a login is; empty where that is not known.
    """

    status: int
    is_session_lost: bool = False
    remedy: str = ""


class SessionLostError(ServerError):
    """The server no longer knows the session, as after a restart; what it was asked for was not carried out."""


def first_of(error: BaseException) -> BaseException:
    """Return the first error that is none of a group: tasks report theirs in groups, within each other."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def as_sent(error: MCPError) -> MCPError | None:
    """Return an error as its server sent it, None where it is the client's own."""
    return MCPError(error.code, error.message, error.data.data) if isinstance(error.data, FromServer) else None


def ends_connection(error: MCPError) -> bool:
    """Return whether an error is the client's own, and says that the connection is closed."""
    return error.code == types.CONNECTION_CLOSED and not isinstance(error.data, FromServer | HttpStatus)


def is_of_client(error: types.ErrorData, *, has_streams: bool) -> bool:
    """Return whether an error among what a server sends was put there by this side: only the stream's end is known.

    Parameters
    ----------
    has_streams : bool
        Whether answers come as streams of events, over HTTP: nothing of a program is such an end.
    """
    if error.data is TOO_LONG or isinstance(error.data, FromServer | HttpStatus):
        return True
    return (
        has_streams
        and error.code == types.CONNECTION_CLOSED
        and error.data is None
        and (error.message in _STREAM_ENDS or error.message.startswith(_STREAM_FAILED))
    )


def as_server_error(
    server: McpServer, error: BaseException, asked: str, timeout_s: float, last_line: str
) -> ServerError:
    """Return what happened to a server that was asked for something.

    Parameters
    ----------
    last_line : str
        The last line that its program wrote to its standard error.
    """
    reason = harmless(f"{server.name}: {_reason(server, error, asked, timeout_s)}")
    status = error.data if isinstance(error, MCPError) and isinstance(error.data, HttpStatus) else HttpStatus(0)
    kind = SessionLostError if status.is_session_lost else LoginNeededError if status.remedy else ServerError
    return kind(reason, last_line[:_MAX_REASON])


def _reason(server: McpServer, error: BaseException, asked: str, timeout_s: float) -> str:
    match error:
        case MCPError(data=FromServer()):
            reason = f"{asked} was answered with error {error.code}: {error.message[:_MAX_REASON]}"
        case MCPError(data=HttpStatus(is_session_lost=True)):
            reason = f"the connection ended before it answered {asked}"
        case MCPError(data=HttpStatus(status=status, remedy=remedy)):
            reason = f"{asked} was answered with {told_status(status, remedy)}"
        case TimeoutError() | MCPError(code=types.REQUEST_TIMEOUT):
            reason = f"no answer to {asked} within {timeout_s:g} s"
        case MCPError() if ends_connection(error):
            whose = "its program" if isinstance(server, StdioServer) else "the connection"
            whose = "the stream of its answer" if error.message.startswith(_STREAM_ENDED) else whose
            reason = f"{whose} ended before it answered {asked}"
        case MCPError() if error.data is TOO_LONG:
            reason = f"its answer to {asked} has {error.message}"
        case MCPError():
            reason = f"{asked} was answered with error {error.code}: {error.message[:_MAX_REASON]}"
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"]) or "it"
            reason = f"its answer to {asked} is not what MCP says: {place}: {first['msg'][:_MAX_REASON]}"
        case _ if isinstance(server, StdioServer):
            reason = _not_started(server, error)
        case _ if (other := status_of(error)) is not None:
            reason = f"{asked} was answered with {told_status(other)}"
        case _:
            reason = f"cannot be reached ({_kind(error)}): does it run, and is {server.where}.url right?"
    return reason


def told_status(status: int, remedy: str = "") -> str:
    """Return an HTTP status and what to do about it, which is `remedy` where that is known.

    Examples
    --------
    >>> told_status(429)
    'HTTP status 429 (Too Many Requests): it takes fewer requests, try again later'
    """
    try:
        named = f"HTTP status {status} ({HTTPStatus(status).phrase})"
    except ValueError:
        named = f"HTTP status {status}"
    told = remedy or _remedy(status)
    return f"{named}: {told}" if told else named


def _remedy(status: int) -> str:
    match status:
        case 401:
            return "it wants a login, give a token in headers"
        case 403:
            return "the token in headers does not allow it"
        case 404 | 405 | 406 | 415:
            return "is there an MCP server at this url?"
        case 429:
            return "it takes fewer requests, try again later"
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return "it failed, or what stands before it did: try again later"
        case _:
            return ""


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error stands for, if any."""
    if isinstance(error, MCPError) and isinstance(error.data, HttpStatus):
        return error.data.status
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _kind(error: BaseException) -> str:
    """Return what an error is, without its text: that may name an address or a header, and so a secret."""
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__


def _not_started(server: StdioServer, error: BaseException) -> str:
    match error:
        case FileNotFoundError() | NotADirectoryError() if server.cwd is not None and not server.cwd.is_dir():
            return f"there is no folder {server.cwd}: correct {server.where}.cwd"
        case FileNotFoundError():
            return f"the program {server.command} is not there: install it, or correct {server.where}.command"
        case PermissionError():
            return f"{server.command} may not be run: correct {server.where}.command"
        case _:
            return f"cannot be started ({_kind(error)}): correct {server.where}"
