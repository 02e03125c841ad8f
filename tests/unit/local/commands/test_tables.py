"""Tables of the command line: whole for a pipe, within the width for people."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from skillroute_local.commands.tables import Column, plain, show_table, table_lines

COLUMNS = (Column("score"), Column("name"), Column("description", sentences=True))
LONG = "Schedule a meeting, call or appointment with other people, and put it on a calendar with start and end."

words = st.text(st.characters(categories=("L", "N"), max_codepoint=0x4FF), min_size=1, max_size=20)
sentences = st.lists(words, max_size=30).map(" ".join)
rows = st.lists(st.tuples(words, words, sentences), min_size=1, max_size=5)


@given(rows, st.integers(min_value=30, max_value=120))
def test_a_table_fits_its_width_and_breaks_no_word(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = table_lines(COLUMNS, rows, width)

    assert all(cell_len(line) <= width for line in lines)
    shown = set(" ".join(lines).split())
    written = {word for row in rows for cell in row for word in cell.split()}
    assert shown <= written | {"score", "name", "description", "…"}
    # What a row is known by is never cut.
    assert {word for score, name, _ in rows for word in (score, name)} <= shown


@given(rows)
def test_a_pipe_gets_everything_a_line_a_row(rows: list[tuple[str, str, str]]) -> None:
    heading, *lines = table_lines(COLUMNS, rows, None)
    assert heading.split() == ["score", "name", "description"]
    assert [line.split() for line in lines] == [" ".join(row).split() for row in rows]


def test_sentences_give_way_and_end_between_words() -> None:
    assert table_lines(COLUMNS, [("0.71", "create_event", LONG)], 60) == [
        "score  name          description",
        "0.71   create_event  Schedule a meeting, call or appointment",
        "                     with other people, and put it on a …",
    ]


def test_rows_are_shown_as_blocks_where_they_do_not_fit() -> None:
    lines = table_lines(COLUMNS, [("0.71", "a_name_of_more_than_twenty_letters", "What it does.")], 40)
    assert lines == ["score  name", "0.71  a_name_of_more_than_twenty_letters", "    What it does."]


def test_details_stand_below_their_row() -> None:
    lines = table_lines(COLUMNS, [("1", "a", "b"), ("2", "c", "d")], None, [["of a"], []])
    assert [line.strip() for line in lines[1:]] == ["1      a     b", "of a", "2      c     d"]


def test_no_rows_show_nothing() -> None:
    assert table_lines(COLUMNS, [], 80) == []


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\nb", "a\r\tb\x07"])
def test_what_others_wrote_steers_no_terminal(text: str) -> None:
    assert plain(text).isprintable()


def test_a_terminal_gets_its_width_and_no_markup_of_others() -> None:
    file = io.StringIO()
    console = Console(file=file, width=50, force_terminal=True, color_system=None)
    show_table(COLUMNS, [("1", "[red]x[/red]", LONG)], console)
    lines = file.getvalue().splitlines()
    assert "[red]x[/red]" in lines[1]
    assert all(len(line) <= 50 for line in lines)
