"""Lines of an agent that are no messages are answered, and the ones after them are read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from skillroute_local.connect.lines import Lines

PING = b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}\n'
DEEP = b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}"
LIMIT = 4_000


def read(*pieces: bytes) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the messages of lines that come in pieces, and what is answered to the other lines."""
    answers: list[dict[str, Any]] = []

    async def answer(line: str) -> None:
        assert line.endswith("\n")
        answers.append(json.loads(line))

    async def run() -> list[str]:
        reader = asyncio.StreamReader(LIMIT)
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        return [line async for line in Lines(reader, LIMIT, answer)]

    return asyncio.run(run()), answers


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        (b"hello", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method"', -32700, None),
        (b"[" * 1_000, -32700, None),
        (b"[" + PING.strip() + b"]", -32600, None),
        (DEEP, -32600, 7),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 7}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": true, "method": 7}', -32600, None),
        (b"7", -32600, None),
        (b"x" * (LIMIT + 1), -32600, None),
        (b"x" * 3 * LIMIT, -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_read(line: bytes, code: int, id_: object) -> None:
    messages, [answer] = read(PING, line + b"\n", b"\n", PING)
    assert messages == [PING.decode()] * 2
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", id_, code)
    assert answer["error"]["message"]


@pytest.mark.parametrize("end", [b"x", b"x" * 3 * LIMIT])
def test_a_line_without_an_end_is_answered_at_the_end(end: bytes) -> None:
    messages, answers = read(PING, end)
    assert (len(messages), len(answers)) == (1, 1)


def test_a_message_without_an_end_is_read_at_the_end() -> None:
    assert read(PING.strip()) == ([PING.decode().strip()], [])
