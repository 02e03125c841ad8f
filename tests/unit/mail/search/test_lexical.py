"""The ranking by words, over an engine that a test fills: pools, what lies beyond them, and cursors under changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from skillroute.core.documents.lexical_engines import LexicalEngineName
from skillroute.mail.search import model as message_search
from skillroute.mail.search import page
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.lexical import Words
from skillroute.mail.search.model import MailFilter, MessageSearchRequest, Method
from skillroute.mail.search.scores import RawScores, Scale

POOL = 6
WHERE = MailFilter("message", None)


@pytest.fixture(autouse=True, scope="module")
def small_pool() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_search, "POOL", POOL)
        yield


class Shelf:
    """A `LexicalEngine` over figures by id."""

    name: LexicalEngineName = "postgres"
    method: Method = "text_match"

    def __init__(self, figures: dict[int, float]) -> None:
        self.figures = dict(figures)
        self.asked_for_all = 0

    def top(self, where: MailFilter, limit: int) -> RawScores:
        return self._sorted()[:limit]

    def all(self, where: MailFilter) -> RawScores:
        self.asked_for_all += 1
        return self._sorted()

    def _sorted(self) -> RawScores:
        return sorted(self.figures.items(), key=lambda item: (-item[1], item[0]))


def turn(shelf: Shelf, limit: int, token: str | None) -> tuple[list[int], str | None]:
    """Return the ids of a page, and the cursor to the next."""
    request = MessageSearchRequest(limit=limit)
    found = page.by_relevance(Words(shelf, WHERE), request, Cursor.parse(token), 0, "postgres")
    return [match.id for match in found.matches], None if found.end is None else found.end.token()


def walk(shelf: Shelf, limit: int) -> list[int]:
    ids, token = turn(shelf, limit, None)
    while token is not None:
        more, token = turn(shelf, limit, token)
        ids += more
    return ids


def test_ten_matches_at_limit_3_come_in_pages_of_3_3_3_and_1() -> None:
    shelf, token, sizes = Shelf({id_: float(id_) for id_ in range(10)}), None, []
    for _ in range(4):
        ids, token = turn(shelf, 3, token)
        sizes.append(len(ids))

    assert sizes == [3, 3, 3, 1]
    assert token is None


def test_a_cursor_is_there_exactly_when_the_page_is_full() -> None:
    shelf = Shelf(dict.fromkeys(range(4), 1.0))

    assert turn(shelf, 4, None)[1] is not None
    assert turn(shelf, 5, None)[1] is None
    assert turn(shelf, 4, turn(shelf, 4, None)[1]) == ([], None)


def test_what_lies_beyond_the_pool_comes_last_by_id() -> None:
    shelf = Shelf({1: 1.0, 2: 3.0, 3: 2.0, **{id_: float(id_) for id_ in range(4, 10)}})

    # The pool is 9, 8, 7, 6, 5 and 4, whose figure 4 scores 0, as those beyond it do.
    assert walk(shelf, 2) == [9, 8, 7, 6, 5, 1, 2, 3, 4]
    assert [match.score for match in Words(shelf, WHERE).all()] == [1.0, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0, 0.0, 0.0]


def test_all_is_asked_for_only_when_a_page_reaches_the_end_of_the_pool() -> None:
    shelf = Shelf({id_: float(id_) for id_ in range(20)})

    ids, token = turn(shelf, POOL - 1, None)

    assert (len(ids), shelf.asked_for_all) == (POOL - 1, 0)
    turn(shelf, 1, token)
    assert shelf.asked_for_all == 1


def test_a_minimum_above_0_never_needs_all() -> None:
    shelf = Shelf({id_: float(id_) for id_ in range(20)})
    request = MessageSearchRequest(limit=1000, min_score=0.4)

    found = page.by_relevance(Words(shelf, WHERE), request, None, 0, "postgres")

    assert [match.id for match in found.matches] == [19, 18, 17, 16]
    assert shelf.asked_for_all == 0


def test_limit_and_cursor_change_no_score() -> None:
    shelf = Shelf({id_: float(id_ % 7) for id_ in range(20)})
    scores = {match.id: match.score for match in Words(shelf, WHERE).all()}

    for limit in (1, 3, POOL, 50):
        token, seen = None, {}
        while True:
            words = Words(shelf, WHERE)
            found = page.by_relevance(words, MessageSearchRequest(limit=limit), Cursor.parse(token), 0, "postgres")
            seen |= {match.id: match.score for match in found.matches}
            if found.end is None:
                break
            token = found.end.token()
        assert seen == scores


FIGURES = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.5])
Change = tuple[str, int, float]
CHANGES = st.lists(st.tuples(st.sampled_from(["put", "delete"]), st.integers(0, 30), FIGURES), max_size=6)


@given(st.dictionaries(st.integers(0, 30), FIGURES, max_size=25), st.integers(1, 5), st.lists(CHANGES, max_size=8))
@example({2: 0.0, 6: 0.5}, 1, [[("delete", 6, 0.0)]])  # the cursor lies above all that is left
@example({1: 1.0, 5: 2.5}, 1, [[], [("delete", 1, 0.0), ("put", 9, 5.5)]])  # below all of it
@example({1: 1.0, 2: 2.0, 3: 2.0, 4: 2.0, 5: 2.0, 6: 2.0, 7: 2.0, 8: 0.0}, 3, [])
def test_each_match_comes_once_whatever_comes_and_goes_between_pages(
    figures: dict[int, float], limit: int, changes: list[list[Change]]
) -> None:
    """What is there from the first page to the last is found exactly once; nothing is found twice.

    An id is never given to another document, as in the database.
    """
    shelf = Shelf(figures)
    lasting, known, seen, token = set(figures), set(figures), list[int](), None
    for step in [*changes, *([] for _ in range(40))]:
        ids, token = turn(shelf, limit, token)
        seen += ids
        if token is None:
            break
        for what, id_, raw_score in step:
            if what == "put" and id_ not in known:
                shelf.figures[id_] = raw_score
                known.add(id_)
            elif what == "delete":
                shelf.figures.pop(id_, None)
                lasting.discard(id_)
    assert token is None
    assert len(seen) == len(set(seen))
    assert lasting <= set(seen) <= known


@given(st.dictionaries(st.integers(0, 30), FIGURES, max_size=25), st.integers(1, 5))
def test_without_changes_pages_are_the_ranking_cut_up(figures: dict[int, float], limit: int) -> None:
    shelf = Shelf(figures)
    pool = sorted(figures.values(), reverse=True)[:POOL]
    scale = Scale.over(pool)

    assert walk(shelf, limit) == sorted(figures, key=lambda id_: (-scale(figures[id_]), id_))
    assert walk(shelf, limit) == [match.id for match in Words(shelf, WHERE).all()]


@pytest.mark.parametrize("score", [-1e308, -3.0, -0.0, 0.0, 2.5, 1e308])
@pytest.mark.parametrize("id_", [-(2**63), 0, 3, 2**63 - 1])
def test_a_cursor_that_nobody_gave_out_is_answered_all_the_same(score: float, id_: int) -> None:
    shelf = Shelf({number: float(number % 5) for number in range(15)})

    ids, _ = turn(shelf, 50, Cursor(score, id_).token())

    assert set(ids) <= set(shelf.figures)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("count", [4, 15])
@pytest.mark.parametrize("score", [-2.5, -1_000_002.0, -1.7e15])
def test_a_cursor_of_the_newest_carried_over_changes_no_score(count: int, score: float) -> None:
    """It lies below every figure; as a mark of ours it would put all matches at 0."""
    shelf = Shelf({number: float(number % 5) for number in range(count)})

    assert turn(shelf, 50, Cursor(score, 2).token()) == ([], None)


def test_a_mark_changes_no_score_that_the_pool_knows() -> None:
    shelf = Shelf({id_: float(id_) for id_ in range(1, 20)})
    ids, token = turn(shelf, 7, None)
    for id_ in range(14, 20):  # all that scored above 0: what the mark put at the end is the pool now
        del shelf.figures[id_]
    words = Words(shelf, WHERE)
    scores = {match.id: match.score for match in words.all()}

    following = words.after(Cursor.parse(token), 50)

    assert ids == [19, 18, 17, 16, 15, 1, 2]
    assert [match.id for match in following] == list(range(3, 14))
    assert {match.id: match.score for match in following} == {id_: scores[id_] for id_ in range(3, 14)}
    assert scores[13] == 1.0


def test_a_minimum_score_finds_all_where_the_pool_has_no_place_for_all_that_are_alike() -> None:
    shelf, seen, token = Shelf(dict.fromkeys(range(15), 1.0)), list[int](), None
    while True:
        request = MessageSearchRequest(limit=4, min_score=0.5)
        found = page.by_relevance(Words(shelf, WHERE), request, Cursor.parse(token), 0, "postgres")
        seen += [match.id for match in found.matches]
        if found.end is None:
            break
        token = found.end.token()

    assert seen == list(range(15))
