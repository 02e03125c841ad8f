"""What is remembered stays within its bytes and its number, and what was used last stays longest."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st
from skillroute.core import bounded_cache
from skillroute.core.bounded_cache import BoundedCache


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(bounded_cache)
    assert results.attempted > 0
    assert results.failed == 0


def test_what_was_used_last_stays() -> None:
    cache: BoundedCache[str, int] = BoundedCache(max_entries=2, max_bytes=100)
    cache.put("a", 1, 10)
    cache.put("b", 2, 10)
    assert cache.get("a") == 1
    cache.put("c", 3, 10)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_a_large_one_takes_the_place_of_many() -> None:
    cache: BoundedCache[int, int] = BoundedCache(max_entries=100, max_bytes=100)
    for number in range(10):
        cache.put(number, number, 10)
    cache.put(10, 10, 75)
    assert [number for number in range(11) if cache.get(number) is not None] == [8, 9, 10]


def test_what_is_larger_than_all_of_it_is_not_remembered_and_makes_nothing_go() -> None:
    cache: BoundedCache[str, int] = BoundedCache(max_entries=2, max_bytes=100)
    cache.put("a", 1, 10)
    cache.put("b", 2, 101)
    assert (cache.get("a"), cache.get("b")) == (1, None)
    # AND what was under its key is another one's
    cache.put("a", 3, 101)
    assert cache.get("a") is None


def test_none_at_all_remembers_nothing() -> None:
    cache: BoundedCache[str, int] = BoundedCache(max_entries=0, max_bytes=100)
    cache.put("a", 1, 1)
    assert cache.get("a") is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=40))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    cache: BoundedCache[int, int] = BoundedCache(max_entries=3, max_bytes=100)
    sizes: dict[int, int] = {}
    for key, size in puts:
        cache.put(key, size, size)
        sizes[key] = size
        held = [key for key in sizes if key in cache._entries]
        assert len(held) <= 3
        assert sum(sizes[key] for key in held) == cache._bytes <= 100
        assert cache.get(key) == size
