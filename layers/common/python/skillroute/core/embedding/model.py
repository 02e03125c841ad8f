"""Embeddings as values: the model that made them, their bytes, and the pure arithmetic on them."""

from __future__ import annotations

import math
import operator
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Vector = list[float]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model's name and the dimension of its vectors. Vectors of two models are never compared."""

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


def to_bytes(vector: Sequence[float]) -> bytes:
    """Pack a vector as little-endian float32, four bytes a dimension: how PostgreSQL keeps it."""
    packed = array("f", vector)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def from_bytes(data: bytes) -> Vector:
    """Unpack what `to_bytes` packed."""
    packed = array("f")
    packed.frombytes(data)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tolist()


def normalise(vector: Sequence[float]) -> Vector | None:
    """Scale a vector to L2 norm 1, or return None when it has no direction (all zeros, or not finite)."""
    norm = math.hypot(*vector)  # squares and sums without overflowing
    if norm == 0.0 or not math.isfinite(norm):
        return None
    return [x / norm for x in vector]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the dot product of two vectors: their cosine, when both are of L2 norm 1."""
    return sum(map(operator.mul, one, other), 0.0)


def weighted_mean(members: Iterable[tuple[Sequence[float], float]]) -> Vector | None:
    """Return the normalised weighted mean of vectors (skill-contract BR-004).

    ``sum(v * w) / sum(w)``, then L2 norm 1. The division drops out in the normalisation, so it is not made.

    Parameters
    ----------
    members : iterable of (vector, weight)
        Read once and never held together, so ten thousand members cost the memory of one.

    Returns
    -------
    list of float or None
        None when there is no member, all weights are zero, or the members cancel out.

    Examples
    --------
    >>> weighted_mean([([1.0, 0.0], 0.9), ([0.0, 1.0], 0.0)])
    [1.0, 0.0]
    """
    total: Vector | None = None
    for vector, weight in members:
        if weight <= 0.0:
            continue
        if total is None:
            total = [x * weight for x in vector]
        else:
            total = [t + x * weight for t, x in zip(total, vector, strict=True)]
    return None if total is None else normalise(total)
