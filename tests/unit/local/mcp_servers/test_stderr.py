"""The end of what a program of an MCP server wrote to its standard error."""

from __future__ import annotations

import os
from collections.abc import Callable

from skillroute_local.mcp_servers.stderr import MAX_LINES, StderrTail


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


def shown_of(*pieces: bytes, clock: Callable[[], float] = float) -> tuple[list[str], str]:
    """Return the lines that are shown of what a program writes, and the last one for messages."""
    lines: list[str] = []
    with StderrTail(lines.append, clock) as tail:
        for piece in pieces:
            tail.file.buffer.write(piece)
        tail.file.flush()
        tail.file.close()
        tail._thread.join()
        return lines, tail.last()


def test_few_lines_are_shown_as_they_are() -> None:
    assert shown_of(b"one\ntwo\n", b"\nthree") == (["one", "two", "", "three"], "three")


def test_of_very_many_lines_in_a_second_some_are_shown_and_the_others_counted() -> None:
    lines, last = shown_of(b"again\n" * 199_999, b"the end\n")
    assert lines == ["again"] * MAX_LINES + [f"({200_000 - MAX_LINES} more lines are not shown)"]
    assert last == "the end"


def test_a_line_without_an_end_is_cut() -> None:
    lines, _ = shown_of(b"x" * 1_000_000 + b"\nnext\n")
    assert [len(line) for line in lines] == [2_000, 4]


def test_escape_codes_are_written_out() -> None:
    assert shown_of(b"\x1b[2J\x1b]0;title\x07gone\rover\n")[0] == ["\\x1b[2J\\x1b]0;title\\x07gone\\x0dover"]
