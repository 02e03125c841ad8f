"""What an error of a connection means, and how it is told."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST
from skillroute_local.mcp_servers.errors import as_server_error, ends_connection
from skillroute_local.mcp_servers.model import HttpServer, McpServer, StdioServer

PROGRAM, FAR = StdioServer("a", "f: a", "run"), HttpServer("b", "f: b", "http://b")


@pytest.mark.parametrize(
    ("server", "code", "message", "expected"),
    [
        (PROGRAM, CONNECTION_CLOSED, "Connection closed", True),
        (FAR, CONNECTION_CLOSED, "Connection closed", True),
        (FAR, INVALID_REQUEST, "Session terminated", True),  # the client's own words for a 404
        (FAR, INVALID_REQUEST, "Session not found", True),  # those of the SDK's servers
        (PROGRAM, INVALID_REQUEST, "no such session of the debugger", False),
        (FAR, INTERNAL_ERROR, "the session is full", False),
        (FAR, INVALID_REQUEST, "not like this", False),
    ],
)
def test_a_connection_is_over_when_it_is_closed_or_its_session_forgotten(
    server: McpServer, code: int, message: str, expected: bool
) -> None:
    assert ends_connection(server, MCPError(code, message)) is expected


def test_a_forgotten_session_is_told_as_an_end() -> None:
    error = as_server_error(FAR, MCPError(INVALID_REQUEST, "Session terminated"), "tool x", 1.0, "")
    assert str(error) == "b: the connection ended before it answered tool x"
