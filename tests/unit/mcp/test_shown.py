"""The first sentence of a description."""

from __future__ import annotations

import pytest
from skillroute.mcp.shown import brief


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Schedule a meeting with people. Give the time in UTC.", "Schedule a meeting with people."),
        ("Really delete the whole folder! There is no way back.", "Really delete the whole folder!"),
        ("Convert a length, e.g. miles to km. Not for money.", "Convert a length, e.g. miles to km."),
        ("Convert a length (e.g. miles to km). Not for money.", "Convert a length (e.g. miles to km)."),
        ("Convert lengths, E.g. Miles to km. Not for money.", "Convert lengths, E.g. Miles to km."),
        ("Delete the folder, i.e. all its files. No way back.", "Delete the folder, i.e. all its files."),
        ("Compare the branch vs. Main branch. Shows a diff.", "Compare the branch vs. Main branch."),
        ("Search for papers, cf. The index of them. Free.", "Search for papers, cf. The index of them."),
        ("List files, folders, etc. with sizes. Sorted by name.", "List files, folders, etc. with sizes."),
        ("List files, folders, links, etc. Sorted by name.", "List files, folders, links, etc."),
        ("List papers of Turing et al. by year. Newest first.", "List papers of Turing et al. by year."),
        ("Look up rates of the U.S. Treasury. Daily.", "Look up rates of the U.S. Treasury."),
        ("Return when it closes, at 5 p.m. local time. Free.", "Return when it closes, at 5 p.m. local time."),
        ("Version 1.2 of the converter, 3.5 times faster. New.", "Version 1.2 of the converter, 3.5 times faster."),
        ("Note. This one says what it is. And more.", "Note. This one says what it is."),
        ("Wait ... what is this good for? Nobody knows.", "Wait ... what is this good for?"),
        ("One line\nand the next one. And more.", "One line and the next one."),
        ("no end", "no end"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_first_sentence_ends_where_a_reader_ends_it(description: str, shown: str) -> None:
    assert brief(description) == shown


def test_what_is_long_is_cut_between_words() -> None:
    assert brief("word " * 100) == " ".join(["word"] * 31) + "…"
