"""One answer to several needs: of what each of them finds the best in turn, every item once (decision 41)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.search.answer.duplicates import NearDuplicates, collapse
from skillroute.search.candidates.candidate import Hit


@dataclass(frozen=True, slots=True)
class Served:
    """An item of such an answer.

    Attributes
    ----------
    hit : Hit
        As the text has it that it suits best, with the near-duplicates that it stands for.
    texts : sequence of int
        Places of the texts that it serves: it, or what it stands for, is among the first that each of them brought.
    best : int
        Place of the text that it suits best.
    """

    hit: Hit
    texts: Sequence[int]
    best: int


def in_turn(found: Sequence[Sequence[Hit]], limit: int) -> list[Served]:
    """Return the best of each text in turn, in each round what serves several first, `limit` at most.

    A near-duplicate of what is there already has no place of its own, unless it is the first of its text: two needs may
    ask for one thing of two products (docs/adr/0042).

    Parameters
    ----------
    found : sequence of sequence of Hit
        What each text found, the best first.
    """
    turns = _Turns(found, limit)
    for place in range(max(map(len, turns.found), default=0)):
        if len(turns.taken) >= limit:
            break
        turns.take(place)
    return turns.served()


class _Turns:
    """Takes candidates in turn: the first of each text, then the second, and so on."""

    def __init__(self, found: Sequence[Sequence[Hit]], limit: int) -> None:
        self.found = [collapse(hits) for hits in found]
        self.taken: dict[str, list[Hit]] = {}  # by the key of what is shown: it, and what it stands for
        self._limit = limit
        self._depth = -(-limit // len(found)) if found else 0
        self._seen: set[str] = set()
        self._alike = NearDuplicates()
        self._places: list[Mapping[str, int]] = [
            {hit.candidate.key: place for place, hit in enumerate(hits)} for hits in self.found
        ]

    def take(self, place: int) -> None:
        """Take what stands at a place of each text."""
        self._depth = max(self._depth, place + 1)
        turn = {hits[place].candidate.key: hits[place] for hits in self.found if place < len(hits)}
        for key in sorted(turn, key=lambda key: -len(self._texts_of(turn[key]))):
            if key not in self._seen:
                self._take(turn[key], is_first=place == 0)

    def _take(self, hit: Hit, *, is_first: bool) -> None:
        alike = None if is_first else self._alike.of(hit)
        if alike is not None:
            self._seen.add(hit.candidate.key)
            self.taken[alike.candidate.key].append(hit)
        elif len(self.taken) < self._limit:
            self._seen.add(hit.candidate.key)
            self._alike.add(hit)
            self.taken[hit.candidate.key] = [hit]

    def served(self) -> list[Served]:
        """Return what was taken, with the texts that it serves."""
        return [self._served(group) for group in self.taken.values()]

    def _served(self, group: Sequence[Hit]) -> Served:
        own = group[0].candidate.key
        of_each = {hit.candidate.key: self._texts_of(hit) for hit in group}
        best = max(of_each[own], key=lambda text: self._of(text, own).candidate.score)
        same = (self._of(text, key) for key, texts in of_each.items() for text in texts)
        others = {other.candidate.key: other for hit in same for other in (hit, *hit.duplicates)}
        hidden = tuple(other for key, other in others.items() if key not in self.taken)
        texts = sorted({text for texts in of_each.values() for text in texts})
        return Served(replace(self._of(best, own), duplicates=hidden), texts, best)

    def _of(self, text: int, key: str) -> Hit:
        return self.found[text][self._places[text][key]]

    def _texts_of(self, hit: Hit) -> list[int]:
        """Return the texts among whose first ones a hit is, as deep as turns have come or will."""
        key, depth = hit.candidate.key, self._depth
        return [text for text, places in enumerate(self._places) if places.get(key, depth) < depth]
