"""The words of a document as PostgreSQL keeps them: signed places, and how much each says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

_SIGN = 1 << 31
_SIZE = 1 << 32


@dataclass(frozen=True, slots=True)
class Words:
    """Places of words, as PostgreSQL's integers, and a number for each: an impact, or a query's weight."""

    places: list[int]
    values: list[float]

    @classmethod
    def of(cls, vector: SparseVector | None) -> Words:
        """Return a sparse vector as words; none of None."""
        if vector is None:
            return cls([], [])
        places = [place - _SIZE if place >= _SIGN else place for place in vector.indices]
        return cls(places, list(vector.values))
