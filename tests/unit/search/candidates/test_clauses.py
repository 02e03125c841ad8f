"""The clauses of a request: where it is cut, and when it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.search.candidates.clauses import MAX_CLAUSES, clauses


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Read the report. Translate it to German, then mail it to Anna",
            ["Read the report", "Translate it to German", "mail it to Anna"],
        ),
        (
            "list open issues and close the stale ones\nand also tell the team",
            ["list open issues", "close the stale ones", "tell the team"],
        ),
        # Fewer than three parts, or parts that say too little.
        ("Find flights to Oslo and book a hotel", []),
        ("find flights to Oslo, rome, paris, and then berlin", []),
        ("", []),
        # A part that is said twice is one.
        ("send the mail, send the mail, read the mail", []),
        # Not inside of words and numbers.
        ("set the price to 3.50 in example.com for Sandy Anderson, if it is 12:30", []),
    ],
)
def test_where_a_request_is_cut(query: str, expected: list[str]) -> None:
    assert clauses(query) == expected


def test_a_long_list_is_cut_off() -> None:
    assert clauses(", ".join(f"do thing number {n}" for n in range(50))) == [
        f"do thing number {n}" for n in range(MAX_CLAUSES)
    ]


@given(st.text(alphabet="ab .,;:!?\n", max_size=200) | st.text(max_size=200))
def test_clauses_are_parts_of_the_request(query: str) -> None:
    found = clauses(query)
    assert all(part in query and len(part.split()) >= 3 for part in found)
    assert len(found) in {0, *range(3, MAX_CLAUSES + 1)}
