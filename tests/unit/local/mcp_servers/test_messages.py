"""Lines of a server's program: put together in linear time, and what is too long is told with its request's id."""

from __future__ import annotations

import time

import pytest
from skillroute_local.mcp_servers.messages import MAX_VALUES, Messages, TooLong

LONG = b'"result":{"text":"' + b"x" * 50_000 + b'"}'
PIECE = 4_096


def read(*lines: bytes, most: int = 10_000) -> list[bytes | TooLong]:
    """Return what is read of lines that come in pieces."""
    messages, text = Messages(most), b"\n".join(lines) + b"\n"
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return [line for piece in pieces for line in messages.of(piece)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"jsonrpc":"2.0","id":7,' + LONG + b"}", TooLong(7, is_answer=True)),
        (b'{"id": "a-1", ' + LONG + b"}", TooLong("a-1", is_answer=True)),
        (b'{"jsonrpc":"2.0",' + LONG + b', "id" : 7}', TooLong(7, is_answer=True)),
        (b"{" + LONG + b',"id":7,"jsonrpc":"2.0"}\r', TooLong(7, is_answer=True)),
        (b"{" + LONG + b',"id":7,' + LONG + b"}", TooLong(None, is_answer=True)),
        (b'{"result":{"id":7},' + LONG + b"}", TooLong(None, is_answer=True)),
        (b"{" + LONG[:-2] + b'\\"id\\":7}"}}', TooLong(None, is_answer=True)),
        (b'{"id":"\\q",' + LONG + b"}", TooLong(None, is_answer=True)),
        (b'{"jsonrpc":"2.0","method":"notifications/message",' + LONG + b"}", TooLong(None, is_answer=False)),
        (b"x" * 50_000, TooLong(None, is_answer=True)),
    ],
)
def test_a_line_that_is_too_long_is_told_once_and_the_next_one_is_read(line: bytes, told: TooLong) -> None:
    assert read(b"{}", line, b'{"a":1}', line) == [b"{}", told, b'{"a":1}', told]


def test_the_call_is_known_before_the_line_has_ended_and_the_line_is_not_kept() -> None:
    messages = Messages(10_000)
    assert list(messages.of(b'{"id":7,' + b"x" * 10_000)) == [TooLong(7, is_answer=True)]
    for _ in range(100):
        assert list(messages.of(b"x" * 10_000)) == []
    assert messages.size == 1_010_008
    assert len(messages._head) + len(messages._tail) + sum(map(len, messages._pieces)) < 10_000


def test_a_line_up_to_the_bound_is_read_whole() -> None:
    assert read(b"x" * 10_000) == [b"x" * 10_000]
    assert read(b"x" * 10_001) == [TooLong(None, is_answer=True)]


def test_a_long_line_is_put_together_in_linear_time() -> None:
    began = time.process_time()
    [line] = read(b"x" * 32_000_000, most=40_000_000)
    assert time.process_time() - began < 5  # 0.1 s; each piece added to those before it would take a minute
    assert isinstance(line, bytes)
    assert len(line) == 32_000_000


def test_a_message_of_very_many_values_is_told_before_it_is_read() -> None:
    crowded = b'{"jsonrpc":"2.0","id":7,"result":[' + b"[]," * MAX_VALUES + b"[]]}"
    assert read(crowded, most=len(crowded)) == [TooLong(7, is_answer=True, is_crowded=True)]
    at_the_end = b'{"result":[' + b"1," * MAX_VALUES + b'1],"id":7}'
    assert read(at_the_end, most=len(crowded)) == [TooLong(7, is_answer=True, is_crowded=True)]


def test_commas_within_a_text_are_no_values() -> None:
    text = b'{"jsonrpc":"2.0","id":7,"result":"' + b'\\"a\\",' * MAX_VALUES + b'"}'
    assert read(text, most=len(text)) == [text]
