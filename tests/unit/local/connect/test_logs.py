"""Lines of the MCP client on standard error: without what servers send, and without keys in addresses."""

from __future__ import annotations

import logging
import sys

import pytest
from skillroute_local.connect.logs import line_handler


@pytest.fixture
def foreign() -> logging.Logger:
    return logging.Logger("mcp.client.stdio")


def test_a_line_that_is_no_message_is_one_line_without_it(
    foreign: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign.addHandler(line_handler(sys.stderr))
    try:
        raise ValueError("password: hunter2")
    except ValueError:
        foreign.exception("Failed to parse JSONRPC message from server")
    foreign.warning("not followed: http://a.example/mcp?api_key=k-1 moved")
    assert capsys.readouterr().err.splitlines() == [
        "skillroute: Failed to parse JSONRPC message from server (ValueError)",
        "skillroute: not followed: http://a.example/mcp?… moved",
    ]


def test_what_servers_write_and_are_called_does_nothing_to_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    own = logging.Logger("skillroute_local")
    own.addHandler(line_handler(sys.stderr))
    own.warning("%s: gone", "\x1b]0;mine\x07\x1b[2Jname\nskillroute: all is well\u202e")
    assert capsys.readouterr().err == (
        "skillroute: \\x1b]0;mine\\x07\\x1b[2Jname\\x0askillroute: all is well\\u202e: gone\n"
    )
