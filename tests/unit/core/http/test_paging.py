"""A page holds what fits, says where the list goes on, and loses nothing on the way."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from fastapi import Response
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from skillroute.core.answer_size import MAX_ANSWER_BYTES, PAGE_BYTES, on_the_way
from skillroute.core.http import paging
from skillroute.core.http.paging import CUT_HEADER, TOTAL_HEADER, Paging


class Row(BaseModel):
    text: str


def rows(*sizes: int) -> list[Row]:
    return [Row(text="x" * size) for size in sizes]


def following(response: Response) -> dict[str, str] | None:
    """Return the parameters of the next page, None on the last one."""
    link = response.headers.get("Link")
    if link is None:
        return None
    assert link.startswith("<?")
    assert link.endswith('>; rel="next"')
    return dict(parse_qsl(link[2 : link.index(">")], keep_blank_values=True))


def test_a_page_of_small_rows_is_what_was_asked_for() -> None:
    response = Paging(2, 0, [("tag", "a b&c"), ("limit", "2")]).response(rows(1, 1), total=5)
    assert response.body == b'[{"text":"x"},{"text":"x"}]'
    assert response.headers[TOTAL_HEADER] == "5"
    assert following(response) == {"tag": "a b&c", "offset": "2", "limit": "2"}
    assert CUT_HEADER not in response.headers


@pytest.mark.parametrize(("offset", "shown", "total"), [(0, 2, 2), (3, 2, 5), (7, 0, 5), (0, 0, 0)])
def test_the_last_page_links_nowhere(offset: int, shown: int, total: int) -> None:
    response = Paging(10, offset).response(rows(*[1] * shown), total)
    assert (following(response), CUT_HEADER in response.headers) == (None, False)


def test_decision_36_a_page_ends_before_it_is_too_large_and_says_so() -> None:
    megabyte = 1_000_000
    response = Paging(100, 20).response(rows(*[megabyte] * 10), total=40)
    assert response.body.count(b"text") == 4
    assert response.headers[CUT_HEADER] == "bytes"
    assert following(response) == {"offset": "24", "limit": "100"}
    assert on_the_way(response.body) < PAGE_BYTES + 100 < MAX_ANSWER_BYTES


def test_what_travels_as_two_bytes_counts_as_two() -> None:
    """Lambda's answer is a string within JSON, where each quote and each backslash is escaped."""
    quotes = [Row(text='"' * 1_000_000)] * 3
    response = Paging(100, 0).response(quotes, total=3)
    assert response.body.count(b"text") == 1
    assert on_the_way(response.body) == len(str(response.body)[2:-1].replace('"', '\\"'))


def test_a_row_that_is_too_large_by_itself_is_a_page_of_its_own() -> None:
    response = Paging(100, 0).response(rows(PAGE_BYTES, 1), total=2)
    assert response.body.count(b"text") == 1
    assert following(response) == {"offset": "1", "limit": "100"}


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 8))
def test_whoever_follows_the_links_gets_every_row_once(sizes: list[int], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paging, "PAGE_BYTES", 90)
        everything = rows(*sizes)
        found: list[Any] = []
        offset: int | None = 0
        while offset is not None:
            response = Paging(limit, offset).response(everything[offset : offset + limit], len(everything))
            found += [Row(**row) for row in __import__("json").loads(response.body)]
            offset = None if (params := following(response)) is None else int(params["offset"])
        assert found == everything
