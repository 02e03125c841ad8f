"""The end of what a program of an MCP server wrote to its standard error."""

from __future__ import annotations

import os

from skillroute_local.mcp_servers.stderr import StderrTail


def test_the_last_line_of_a_program_that_has_ended_is_waited_for() -> None:
    for _ in range(50):
        with StderrTail() as tail:
            os.write(tail.file.fileno(), b"starting\nthe token is missing\n\n")
            assert tail.last_of_ended() == "the token is missing"


def test_a_program_that_it_started_and_that_writes_on_is_not_waited_for() -> None:
    with StderrTail() as tail:
        held_open = os.dup(tail.file.fileno())
        try:
            assert tail.last_of_ended() == ""
        finally:
            os.close(held_open)
