"""GIVEN a stream of events, WHEN it comes in pieces, THEN the same events come of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from skillroute.calling.mcp_client.events import Event, EventReader

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n\r\nid: 1\nevent: endpoint\ndata: /m\n\ndata:{\rdata: }\r\revent: x\r\n\r\n"
    b"data: two\r\ndata:\r\ndata:  lines\r\nretry: 3\r\n\r\ndata\n\ndata: cut"
)
EVENTS = [
    Event("endpoint", b"/m"),
    Event("message", b"{\n}"),
    Event("message", b"two\n\n lines"),
    Event("message", b""),
]


def read(*parts: bytes) -> list[Event]:
    reader = EventReader()
    return [event for part in parts for event in reader.feed(part)]


def test_a_stream_at_once() -> None:
    assert read(STREAM) == EVENTS


def test_a_stream_byte_by_byte() -> None:
    assert read(*(bytes([byte]) for byte in STREAM)) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_a_stream_in_any_pieces(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    # No stream begins with nothing: what is read first has the mark of its encoding.
    parts = [STREAM[begin:end] for begin, end in pairwise(edges) if begin < end]
    assert read(*parts) == EVENTS
