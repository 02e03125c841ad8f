"""Cursors to the letter (message-search, section 4)."""

from __future__ import annotations

import math
import struct
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mail.search.cursor import Cursor, CursorEngine

ENGINES: tuple[CursorEngine, ...] = get_args(CursorEngine)

cursors = st.builds(
    Cursor,
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.sampled_from(ENGINES),
)


@pytest.mark.parametrize(
    ("score", "id_", "engine", "token"),
    [
        (1.0, 7, "bm25", "s3ff0000000000000:i7:etantivy"),
        (0.9, 10, None, "s3feccccccccccccd:i10"),
        (0.0, 1, None, "s0000000000000000:i1"),
        (-0.0, 1, None, "s0000000000000000:i1"),
        (1 / 3, 9, None, "s3fd5555555555555:i9"),
        (-2.5, 100, None, "sc004000000000000:i100"),
        (0.5, 3, "postgres", "s3fe0000000000000:i3:efts5"),
        (0.5, 3, "hybrid", "s3fe0000000000000:i3:ehybrid"),
    ],
)
def test_tokens_are_the_contract_s(score: float, id_: int, engine: CursorEngine | None, token: str) -> None:
    assert Cursor(score, id_, engine).token() == token
    assert Cursor.parse(token) == Cursor(score, id_, engine)


@given(cursors)
def test_a_cursor_comes_back_as_it_was(cursor: Cursor) -> None:
    back = Cursor.parse(cursor.token())
    assert back == cursor
    assert back is not None and back.token() == cursor.token()


@given(cursors)
def test_every_bit_of_the_score_is_in_the_token(cursor: Cursor) -> None:
    back = Cursor.parse(cursor.token())
    assert back is not None and struct.pack(">d", back.score) == struct.pack(">d", cursor.score + 0.0)


def test_a_minus_before_zero_is_lost_on_the_way_in_too() -> None:
    read = Cursor.parse("s8000000000000000:i1")
    assert read is not None and math.copysign(1.0, read.score) == 1.0


MALFORMED = [
    None, "", "s", "x", "s3ff0000000000000", "s3ff0000000000000:", "s3ff0000000000000:i", "s3ff0000000000000:i1:",
    "s3ff0000000000000:i1:e", "s3ff0000000000000:i1:efts6", "s3ff0000000000000:i1:eFTS5", "s3ff0000000000000:i1:fts5",
    "s3FF0000000000000:i1", "s3ff000000000000:i1", "s3ff00000000000000:i1", "s3ff000000000000g:i1",
    "3ff0000000000000:i1",
    "s3ff0000000000000:i1.5", "s3ff0000000000000:i+1", "s3ff0000000000000:i 1", "s3ff0000000000000:i1 ",
    " s3ff0000000000000:i1", "s3ff0000000000000:i1\n", "s3ff0000000000000:i１", "s3ff0000000000000:i\u0661",
    "s3ff0000000000000:i9223372036854775808", "s3ff0000000000000:i-9223372036854775809",
    f"s3ff0000000000000:i{'9' * 5000}", "s3ff0000000000000:i1:efts5:efts5", "s3ff0000000000000:i--1",
    "s3ff0000000000000:i1:ebm25", "s3ff0000000000000:i1:epostgres",
    "s3ff0000000000000:i1:etantivy\0", "\ud800",
    # not finite
    "s7ff0000000000000:i1", "sfff0000000000000:i1", "s7ff8000000000000:i1", "sffffffffffffffff:i1",
]  # fmt: skip


@pytest.mark.parametrize("token", MALFORMED)
def test_what_is_malformed_or_not_finite_is_no_cursor(token: str | None) -> None:
    assert Cursor.parse(token) is None


@given(st.text() | st.from_regex(r"s[0-9a-f]{14,18}:i-?[0-9]{1,21}(:e[a-z0-9]{0,8})?", fullmatch=True))
def test_anything_is_read_without_an_error_and_what_is_read_is_a_token(token: str) -> None:
    cursor = Cursor.parse(token)
    if cursor is not None:
        assert math.isfinite(cursor.score)
        assert Cursor.parse(cursor.token()) == cursor
