"""`SKILL.md` without its front matter, and in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.agent_skills.skill_md import MAX_HEADING, PIECE_BYTES, Piece, body_of, pieces_of

LONG = "word " * 120


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\nname: a\n---\n# Title\n", "# Title\n"),
        ("---\r\nname: a\r\n---\r\nText", "Text"),
        ("\ufeff---\nname: a\n---\nText", "Text"),
        ("---\nname: a\n---", ""),
        ("---\n---\nText", "Text"),
        ("---\nname: a\n---\nText\n---\nMore", "Text\n---\nMore"),
        ("---\nname: 'a --- b'\n---\nText", "Text"),
        ("# Title\n---\nname: a\n---\n", None),
        ("---\nname: a\n", None),
        ("----\nname: a\n----\n", None),
        ("", None),
    ],
)
def test_the_body_stands_behind_the_front_matter(text: str, body: str | None) -> None:
    assert body_of(text) == body


def test_short_sections_share_a_piece() -> None:
    assert pieces_of("# A\nOne.\n\n## B\nTwo.\n") == [Piece("A", "# A\nOne.\n## B\nTwo.")]


def test_a_heading_begins_a_piece_where_the_one_before_it_is_long_enough() -> None:
    pieces = pieces_of(f"# A\n{LONG}\n## B\n{LONG}\n# C\n{LONG}")
    assert [piece.heading for piece in pieces] == ["A", "A > B", "C"]


def test_what_stands_above_a_piece_are_the_headings_of_lower_levels() -> None:
    pieces = pieces_of(f"# A\n{LONG}\n### Deep\n{LONG}\n## Less deep\n{LONG}")
    assert [piece.heading for piece in pieces] == ["A", "A > Deep", "A > Less deep"]


@pytest.mark.parametrize(
    ("line", "heading"), [("# A ##  ", "A"), ("# C#", "C#"), ("#\tA", "A"), ("# # A", "# A"), ("# ##", ""), ("#A", "")]
)
def test_a_heading_may_be_closed_behind_a_blank(line: str, heading: str) -> None:
    assert [piece.heading for piece in pieces_of(f"{line}\n{LONG}")] == [heading]


def test_a_heading_of_a_hundred_thousand_blanks_is_read_at_once() -> None:
    # With a pattern that takes the square of their number this does not end.
    [heading, *_] = pieces_of(f"# A{' ' * 100_000}B{' #' * 100_000}C")
    assert heading.heading == "A"


def test_a_long_heading_is_in_pieces_and_cut_where_it_stands_above_others() -> None:
    pieces = pieces_of(f"# {LONG * 5}\n\n{LONG}\n\n{LONG}")
    assert {piece.heading for piece in pieces} == {LONG[:MAX_HEADING].strip()}
    assert all(len(piece.content.encode()) <= PIECE_BYTES for piece in pieces)


def test_a_comment_within_a_fence_is_no_heading() -> None:
    [piece] = pieces_of("# A\n```sh\n# not a heading\nls\n```\n~~~\n# neither\n~~~")
    assert piece.heading == "A"
    pieces = pieces_of(f"````\n```\n{LONG}\n# inside\n````\n# Outside\n{LONG}")
    assert [piece.heading for piece in pieces] == ["", "Outside"]


def test_invisible_characters_are_in_no_piece() -> None:
    assert pieces_of("Pay\u200b back.") == [Piece("", "Pay back.")]


def test_an_empty_body_has_no_piece() -> None:
    assert pieces_of("\n \n") == []


@given(st.text(st.sampled_from("ab 语#\n`-é"), max_size=6000))
def test_every_piece_has_its_size_and_no_word_is_lost(body: str) -> None:
    pieces = pieces_of(body)
    # The heading of a piece is a block of its own, and may come on top.
    assert all(len(piece.content.encode()) <= PIECE_BYTES + 1 for piece in pieces if "#" not in piece.content)
    kept = "".join("".join(piece.content for piece in pieces).split())
    assert kept.replace("#", "") == "".join(body.split()).replace("#", "")
