"""All pairs of sets that share most of their members, without comparing every set with every other.

Two sets of a Jaccard similarity of at least t share a member among the first ``|x| - ceil(t |x|) + 1`` of each, in any
order that is the same for all sets; with the rarest members first, few sets share one (Chaudhuri 2006, Bayardo 2007).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

H = TypeVar("H", bound=Hashable)


def similar_pairs(sets: Sequence[frozenset[int]], at_least: float) -> Iterator[tuple[int, int]]:
    """Yield the places of all pairs of distinct sets whose Jaccard similarity is at least `at_least`, each once.

    Parameters
    ----------
    sets : sequence of frozenset of int
        No two are equal; empty ones are in no pair.
    at_least : float
        Above 0, up to 1.
    """
    counts = Counter(member for members in sets for member in members)
    holders: dict[int, list[int]] = defaultdict(list)
    for place in sorted(range(len(sets)), key=lambda place: len(sets[place])):
        members = sets[place]
        least = _ceil(at_least * len(members))
        prefix = sorted(members, key=lambda member: (counts[member], member))[: len(members) - least + 1]
        for other in {other for member in prefix for other in holders[member]}:
            if len(sets[other]) >= least and _similarity(members, sets[other]) >= at_least:
                yield min(place, other), max(place, other)
        if members:
            for member in prefix:
                holders[member].append(place)


def _similarity(one: frozenset[int], other: frozenset[int]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _ceil(number: float) -> int:
    return math.ceil(number - 1e-9)  # 0.8 * 5 is 4, whatever floats make of it


def groups(count: int, pairs: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the places that pairs connect, directly or through others, in groups of at least two, sorted."""
    parent = list(range(count))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for one, other in pairs:
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    found: dict[int, list[int]] = defaultdict(list)
    for place in range(count):
        found[root(place)].append(place)
    return [group for group in found.values() if len(group) > 1]


def by_key(count: int, key: Callable[[int], H]) -> dict[H, list[int]]:
    """Return the places below `count` by their keys."""
    found: dict[H, list[int]] = defaultdict(list)
    for place in range(count):
        found[key(place)].append(place)
    return found
