"""The newest of more matches than a pool holds are those that the straightforward way finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.documents.lexical_engines import LexicalEngineName
from skillroute.mail.search import model as message_search
from skillroute.mail.search import recency
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.lexical import Words
from skillroute.mail.search.model import MailFilter, MessageSearchRequest, Method
from skillroute.mail.search.page import Page, time_of
from skillroute.mail.search.recency import by_recency
from skillroute.mail.search.scores import RawScores

WHERE = MailFilter("message", None)
POOL = 4


@pytest.fixture(autouse=True, scope="module")
def small_pool() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_search, "POOL", POOL)
        yield


class Shelf:
    """A `LexicalEngine`, and the times, over documents: a time, and a figure where one matches."""

    name: LexicalEngineName = "postgres"
    method: Method = "text_match"

    def __init__(self, documents: Sequence[tuple[int, float | None]]) -> None:
        self.documents = dict(enumerate(documents, 1))
        self.read = 0

    def top(self, where: MailFilter, limit: int) -> RawScores:
        return self.all(where)[:limit]

    def all(self, where: MailFilter) -> RawScores:
        least, most = where.min_ts, where.max_ts
        found = [
            (id_, raw_score)
            for id_, (ts, raw_score) in self.documents.items()
            if raw_score is not None and (least is None or ts >= least) and (most is None or ts <= most)
        ]
        self.read += len(found)
        return sorted(found, key=lambda each: (-each[1], each[0]))

    def created(self, ids: Sequence[int]) -> dict[int, int]:
        return {id_: self.documents[id_][0] for id_ in ids}

    def newest(self, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
        places = sorted((-ts, id_) for id_, (ts, _) in self.documents.items())
        if after is not None:
            places = [place for place in places if place > (-after[0], after[1])]
        return [(id_, -lost) for lost, id_ in places[:limit]]


def straightforward(words: Words, shelf: Shelf, request: MessageSearchRequest, cursor: Cursor | None) -> list[object]:
    least = -1.0 if request.min_score is None else request.min_score
    places = sorted((-shelf.documents[m.id][0], m.id, m.score, m.raw) for m in words.all() if m.score >= least)
    return [place for place in places if cursor is None or place[:2] > (cursor.score, cursor.id)][: request.limit]


def shown(page: Page, shelf: Shelf) -> list[object]:
    return [(-shelf.documents[m.id][0], m.id, m.score, m.raw) for m in page.matches]


FIGURES = st.none() | st.sampled_from([0.5, 1.0, 2.0, 3.0])


@given(
    st.lists(st.tuples(st.integers(-3, 6), FIGURES), max_size=40),
    st.integers(1, 9),
    st.none() | st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([(1, 2, 4, 8, 16, 32, 64), (2, 3), (50,)]),
)
def test_it_is_the_same_page_with_the_same_scores(
    documents: list[tuple[int, float | None]], limit: int, least: float | None, windows: tuple[int, ...]
) -> None:
    shelf, cursor = Shelf(documents), None
    request = MessageSearchRequest(ranking="recency", limit=limit, min_score=least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recency, "WINDOWS", windows)
        while True:
            words = Words(shelf, WHERE)
            page = by_recency(words, request, cursor, 0, "postgres", shelf)  # type: ignore[arg-type]

            assert shown(page, shelf) == straightforward(words, shelf, request, cursor)
            assert (page.end is None) == (len(page.matches) < limit)
            if page.end is None:
                break
            cursor = Cursor.parse(page.end.token())


def test_a_page_does_not_read_all_that_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf([(number, 1.0 + number % 3) for number in range(2000)])
    monkeypatch.setattr(recency, "WINDOWS", (10, 20, 40))
    words = Words(shelf, WHERE)
    shelf.read = 0

    page = by_recency(words, MessageSearchRequest(limit=20), None, 5, "postgres", shelf)  # type: ignore[arg-type]

    assert [match.id for match in page.matches] == list(range(1995, 1975, -1))
    assert shelf.read == 30


@pytest.mark.parametrize(
    ("score", "place"),
    [(-5.0, (5, 7)), (-5.5, (6, 2**63 - 1)), (5.5, (-5, 2**63 - 1)), (-1e300, (2**63 - 1, 7)), (1e300, (1 - 2**63, 7))],
)
def test_where_a_cursor_stands_in_time(score: float, place: tuple[int, int]) -> None:
    assert time_of(Cursor(score, 7)) == place
