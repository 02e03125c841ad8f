"""What an error of a connection means, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT, ErrorData
from skillroute_local.mcp_servers.errors import (
    FromServer,
    HttpStatus,
    SessionLostError,
    as_sent,
    as_server_error,
    ends_connection,
    is_of_client,
)
from skillroute_local.mcp_servers.model import HttpServer, StdioServer

PROGRAM, FAR = StdioServer("a", "f: a", "run"), HttpServer("b", "f: b", "http://b")


@pytest.mark.parametrize("code", [CONNECTION_CLOSED, REQUEST_TIMEOUT, INTERNAL_ERROR])
def test_what_a_server_says_is_never_taken_for_the_clients_own_trouble(code: int) -> None:
    theirs = MCPError(code, "Connection closed", FromServer({"a": 1}))
    assert not ends_connection(theirs)
    assert str(as_server_error(FAR, theirs, "tool x", 1.0, "")) == (
        f"b: tool x was answered with error {code}: Connection closed"
    )
    sent = as_sent(theirs)
    assert sent is not None
    assert (sent.code, sent.message, sent.data) == (code, "Connection closed", {"a": 1})


@pytest.mark.parametrize(
    ("server", "error", "told"),
    [
        (PROGRAM, MCPError(CONNECTION_CLOSED, "Connection closed"), "a: its program ended before it answered tool x"),
        (FAR, MCPError(CONNECTION_CLOSED, "Connection closed"), "b: the connection ended before it answered tool x"),
        (FAR, MCPError(REQUEST_TIMEOUT, "timed out"), "b: no answer to tool x within 1 s"),
        (
            FAR,
            MCPError(CONNECTION_CLOSED, "SSE stream ended without a response"),
            "b: the stream of its answer ended before it answered tool x",
        ),
    ],
)
def test_the_clients_own_trouble_is_told_as_such(server: Any, error: MCPError, told: str) -> None:
    assert as_sent(error) is None
    assert ends_connection(error) is (error.code == CONNECTION_CLOSED)
    assert str(as_server_error(server, error, "tool x", 1.0, "")) == told


def test_a_forgotten_session_is_an_error_of_its_own() -> None:
    error = as_server_error(FAR, MCPError(INTERNAL_ERROR, "", HttpStatus(404, is_session_lost=True)), "tool x", 1.0, "")
    assert isinstance(error, SessionLostError)
    assert str(error) == "b: the connection ended before it answered tool x"


@pytest.mark.parametrize(
    ("message", "is_own"),
    [
        ("SSE stream ended without a response", True),
        ("SSE stream ended and reconnection attempts were exhausted", True),
        ("SSE stream failed: 1", True),
        ("SSE stream limit of this tool reached", False),
        ("SSE stream ended", False),
    ],
)
def test_only_the_sentences_of_the_sdk_over_http_are_taken_for_the_clients_own(message: str, *, is_own: bool) -> None:
    error = ErrorData(code=CONNECTION_CLOSED, message=message)
    assert is_of_client(error, has_streams=True) is is_own
    assert not is_of_client(error, has_streams=False)
    assert not is_of_client(ErrorData(code=INTERNAL_ERROR, message=message), has_streams=True)
