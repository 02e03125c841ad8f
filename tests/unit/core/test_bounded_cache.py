"""What is remembered stays within its bytes and its number, and what was used last stays longest."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st
from skillroute.core import bounded_cache
from skillroute.core.bounded_cache import BoundedCache

from tests.doubles import in_threads


def cache_of(max_entries: int) -> BoundedCache[object, int]:
    """Return a cache of 100 bytes for numbers that are as large as they say."""
    return BoundedCache(max_entries=max_entries, max_bytes=100, size_of=int)


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(bounded_cache)
    assert results.attempted > 0
    assert results.failed == 0


def test_what_was_used_last_stays() -> None:
    cache = cache_of(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_several_are_looked_up_at_once_in_their_order_and_all_of_them_were_used() -> None:
    cache = cache_of(3)
    for key in "abc":
        cache.put(key, 1)
    assert list(cache.get_all(["b", "x", "a"]).items()) == [("b", 1), ("a", 1)]
    # WHEN another one comes, the one that was not asked for goes
    cache.put("d", 1)
    assert [key for key in "abcd" if cache.get(key) is not None] == ["a", "b", "d"]


def test_a_large_one_takes_the_place_of_many() -> None:
    cache = cache_of(100)
    for number in range(10):
        cache.put(number, 10)
    cache.put(10, 75)
    assert [number for number in range(11) if cache.get(number) is not None] == [8, 9, 10]


def test_what_is_larger_than_all_of_it_is_not_remembered_and_makes_nothing_go() -> None:
    cache = cache_of(2)
    cache.put("a", 1)
    cache.put("b", 101)
    assert (cache.get("a"), cache.get("b")) == (1, None)
    # AND what was under its key is another one's
    cache.put("a", 101)
    assert cache.get("a") is None


def test_none_at_all_remembers_nothing() -> None:
    cache = cache_of(0)
    cache.put("a", 1)
    assert cache.get("a") is None


def test_threads_may_share_it() -> None:
    cache = cache_of(3)

    def use(thread: int) -> bool:
        for number in range(2_000):
            cache.put((thread, number % 7), number % 60)
            cache.get((thread, number % 5))
        return True

    assert in_threads(4, use) == [True] * 4
    assert len(cache._entries) <= 3
    assert cache._entries.currsize == sum(cache._entries.values()) <= 100


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=40))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    cache = cache_of(3)
    for key, size in puts:
        cache.put(key, size)
        assert len(cache._entries) <= 3
        assert sum(cache._entries.values()) == cache._entries.currsize <= 100
        assert cache.get(key) == size
