"""Requests grouped by meaning, without numpy: the function that serves this has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest

from skillroute.core.embedding.model import Vector, dot, from_bytes, normalise
from skillroute.learning.review.model import AskedWording, UnservedGroup, Wording

MIN_COSINE = 0.8
MAX_OTHER_WORDINGS = 3
MAX_TOOLS = 5
MAX_ASKED = 50

_MIN_SIGNS = 128
"""Dimensions from which on signs say something."""

_MAX_DIFFERING_SIGNS = 0.32
"""Of the signs of two vectors: the expected share is their angle over pi, 0.205 at a cosine of 0.8, with a standard
deviation of 0.021 in 384 dimensions. Of 3,000 requests, embedded by the packaged model, those that are so alike differ
in 0.224 at most, and of all 4.5 million pairs one in 4,000 is within the bound.
"""

_MAX_COSINES = 16
"""That are computed for a wording, of the nearest groups by their signs: 2,000 requests that are all nearly alike would
take 9 s otherwise.
"""


class _Head:
    """A group that is being made, and the vector of its first wording."""

    def __init__(self, first: Wording, vector: Vector | None) -> None:
        self.vector = vector
        self.wordings = [first]


class _Heads:
    """The groups of one model."""

    def __init__(self) -> None:
        self._heads: list[_Head] = []
        self._signs: list[int] = []

    def nearest(self, vector: Vector, signs: int) -> _Head | None:
        """Return the group that a vector belongs to, None where it is like none.

        Signs are compared first: a cosine takes a hundred times as long.
        """
        bound = len(vector) if len(vector) < _MIN_SIGNS else int(_MAX_DIFFERING_SIGNS * len(vector))
        differing = [(signs ^ other).bit_count() for other in self._signs]
        near = [place for place, number in enumerate(differing) if number <= bound]
        if len(near) > _MAX_COSINES:
            near = sorted(nsmallest(_MAX_COSINES, near, key=differing.__getitem__))
        best, found = MIN_COSINE, None
        for place in near:
            head = self._heads[place]
            if head.vector is not None and (cosine := dot(vector, head.vector)) >= best:
                best, found = cosine, head
        return found

    def add(self, head: _Head, signs: int) -> None:
        """Add a group."""
        self._heads.append(head)
        self._signs.append(signs)


def grouped(wordings: Iterable[Wording]) -> list[UnservedGroup]:
    """Group wordings of one meaning, the largest group first.

    Each joins the group whose first wording its vector is nearest to, by a cosine of 0.8 or more, or begins one. So the
    most frequent ones should come first. One without a vector is a group of its own.
    """
    heads: list[_Head] = []
    of_models: dict[tuple[str | None, int], _Heads] = {}
    for wording in wordings:
        vector = None if wording.packed is None else normalise(from_bytes(wording.packed))
        if vector is None or wording.packed is None:
            heads.append(_Head(wording, None))
            continue
        known = of_models.setdefault((wording.model, len(vector)), _Heads())
        signs = _signs(wording.packed)
        head = known.nearest(vector, signs)
        if head is not None:
            head.wordings.append(wording)
            continue
        heads.append(head := _Head(wording, vector))
        known.add(head, signs)
    groups = [_group(head.wordings) for head in heads]
    return sorted(groups, key=lambda group: (-group.searches, -group.last_at.timestamp(), group.query or ""))


def _signs(packed: bytes) -> int:
    """Return a number with a bit for each negative place of a vector: the highest of each fourth byte."""
    highest = packed[3::4]
    return int.from_bytes(highest, "big") & int.from_bytes(b"\x80" * len(highest), "big")


def _group(wordings: Sequence[Wording]) -> UnservedGroup:
    texts = [wording.query for wording in wordings if wording.query is not None]
    tools: Counter[int] = Counter()
    callers: set[str] = set()
    for wording in wordings:
        tools.update(wording.tools)
        callers |= wording.callers
    return UnservedGroup(
        texts[0] if texts else None,
        texts[1 : 1 + MAX_OTHER_WORDINGS],
        sum(wording.searches for wording in wordings),
        len(callers),
        max(wording.last_at for wording in wordings),
        [tool_id for tool_id, _ in tools.most_common(MAX_TOOLS)],
        [
            AskedWording(wording.query, wording.searches, len(wording.callers), wording.last_at)
            for wording in wordings
            if wording.query is not None
        ][:MAX_ASKED],
    )
