"""One set for several needs: the best of each in turn, every item once, near-duplicates only where each is a best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from skillroute.search.candidates.candidate import Hit
from skillroute.search.candidates.retrieve import Candidate
from skillroute.search.needs.merge import Served, in_turn

Found = list[list[Hit]]


def hit(key: str, score: float = 0.5, *, name: str | None = None) -> Hit:
    described = f"{name or key}thing"
    payload = {"type": "tool", "name": name or f"tool_{key}", "server": f"server {key}", "description": described}
    return Hit(Candidate(key, score, score), payload)


def lists(*keys: str) -> Found:
    """Return what each text found: its keys, a letter each, with scores that fall."""
    return [[hit(key, 0.9 - place / 10) for place, key in enumerate(text)] for text in keys]


def shown(served: list[Served]) -> list[tuple[str, list[int]]]:
    return [(one.hit.candidate.key, list(one.texts)) for one in served]


@st.composite
def found_lists(draw: st.DrawFn) -> Found:
    """Return lists of up to ten texts over thirty tools, every third of which is a copy of its neighbour."""
    texts = draw(st.lists(st.lists(st.integers(0, 29), unique=True, max_size=20), min_size=1, max_size=10))
    return [
        [
            hit(str(key), 1.0 - place / 20, name=f"click{key - key % 3}" if key % 3 < 2 else None)
            for place, key in enumerate(text)
        ]
        for text in texts
    ]


@given(found_lists(), st.integers(1, 50))
def test_whatever_is_found_the_set_keeps_its_promises(found: Found, limit: int) -> None:
    served = in_turn(found, limit)
    keys = [one.hit.candidate.key for one in served]
    firsts = {hits[0].candidate.key for hits in found if hits}
    assert len(keys) == len(set(keys)) <= limit
    assert all(one.texts for one in served)
    assert all(one.best in one.texts for one in served)
    if limit >= len(found):
        assert firsts <= set(keys)
    assert all(served) or not any(found)
    # What stands for others is in no other place, and only the best of texts are near-duplicates of each other.
    hidden = [other.candidate.key for one in served for other in one.hit.duplicates]
    assert set(hidden).isdisjoint(keys)
    names = [one.hit.payload["name"] for one in served if one.hit.candidate.key not in firsts]
    assert len(names) == len(set(names))


@given(found_lists(), st.integers(1, 50))
def test_every_place_is_taken_while_anything_is_left(found: Found, limit: int) -> None:
    served = in_turn(found, limit)
    names = {other.payload["name"] for one in served for other in [one.hit, *one.hit.duplicates]}
    left = {one.payload["name"] for hits in found for one in hits} - names
    assert len(served) == limit or not left


def test_the_best_of_each_comes_before_the_second_of_any() -> None:
    assert shown(in_turn(lists("abc", "xyz"), 4)) == [("a", [0]), ("x", [1]), ("b", [0]), ("y", [1])]


def test_what_serves_several_comes_first_and_names_them() -> None:
    served = shown(in_turn(lists("abc", "xay", "mxn"), 6))
    assert served == [("a", [0, 1]), ("x", [1, 2]), ("m", [2]), ("b", [0]), ("c", [0]), ("y", [1])]


def test_where_there_are_fewer_places_than_texts_those_that_serve_most_have_them() -> None:
    assert shown(in_turn(lists("abc", "xyz", "xmn"), 2)) == [("x", [1, 2]), ("a", [0])]


def test_an_item_has_the_score_of_the_text_that_it_suits_best() -> None:
    found = [[hit("a", 0.4)], [hit("a", 0.9)]]
    [one] = in_turn(found, 5)
    assert (one.hit.candidate.score, one.best) == (0.9, 1)


def test_a_near_duplicate_gives_its_place_away_and_is_named_beside_the_other() -> None:
    found = [[hit("a", name="click"), hit("b", name="click"), hit("c")], [hit("x"), hit("d", name="click")]]
    served = in_turn(found, 5)
    assert shown(served) == [("a", [0, 1]), ("x", [1]), ("c", [0])]
    assert [other.candidate.key for other in served[0].hit.duplicates] == ["b", "d"]


def test_near_duplicates_stay_apart_where_each_is_the_best_for_a_need() -> None:
    found = [[hit("mysql", name="query"), hit("pg", name="query")], [hit("pg", name="query"), hit("x")]]
    assert [key for key, _ in shown(in_turn(found, 5))] == ["mysql", "pg", "x"]
