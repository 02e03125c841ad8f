"""What went wrong with an MCP server, in a sentence that begins with its name and ends with what to do."""

from __future__ import annotations

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from skillroute_local.mcp_servers.messages import TOO_LONG
from skillroute_local.mcp_servers.model import HttpServer, McpServer, ServerError, StdioServer
from skillroute_local.terminal_text import harmless

_MAX_REASON = 300


def first_of(error: BaseException) -> BaseException:
    """Return the first error that is none of a group: tasks report theirs in groups, within each other."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def ends_connection(server: McpServer, error: MCPError) -> bool:
    """Return whether an error says that a connection is of no more use: it is closed, or its session is forgotten.

    A server behind HTTP forgets its sessions when it is started again; the client then has nothing left to go on with.
    """
    if error.code == types.CONNECTION_CLOSED:
        return True
    forgotten = error.code == types.INVALID_REQUEST and "session" in error.message.lower()
    return isinstance(server, HttpServer) and forgotten


def as_server_error(
    server: McpServer, error: BaseException, asked: str, timeout_s: float, last_line: str
) -> ServerError:
    """Return what happened to a server that was asked for something.

    Parameters
    ----------
    last_line : str
        The last line that its program wrote to its standard error.
    """
    reason = _reason(server, error, asked, timeout_s)
    return ServerError(harmless(f"{server.name}: {reason}"), last_line[:_MAX_REASON])


def _reason(server: McpServer, error: BaseException, asked: str, timeout_s: float) -> str:
    match error:
        case TimeoutError() | MCPError(code=types.REQUEST_TIMEOUT):
            reason = f"no answer to {asked} within {timeout_s:g} s"
        case MCPError() if ends_connection(server, error):
            ended = "its program" if isinstance(server, StdioServer) else "the connection"
            reason = f"{ended} ended before it answered {asked}"
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
        case _:
            reason = f"cannot be reached ({_kind(error)}): does it run, and is {server.where}.url right?"
    return reason


def _kind(error: BaseException) -> str:
    """Return what an error is, without its text: that may name an address or a header, and so a secret."""
    response = getattr(error, "response", None)
    if isinstance(status := getattr(response, "status_code", None), int):
        return f"HTTP status {status}"
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
