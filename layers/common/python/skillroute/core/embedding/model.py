"""Embeddings as values: the model that made them, their bytes, and the pure arithmetic on them."""

from __future__ import annotations

import math
import operator
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Vector = list[float]

_MINILM = ("all-minilm-l6-v2-int8-v", "tool-minilm-l6-int8-v")
"""The prefix of the names of the packaged models."""

_UNUSED_OF_MINILM = 223


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model's name and the dimension of its vectors. Vectors of two models are never compared."""

    name: str
    dimension: int

    @property
    def unused(self) -> int | None:
        """A place in which all its vectors have 0, where one is known: what is written there changes no cosine to them.

        The last normalisation of MiniLM-L6 leaves three places at 0, for any text and after any tuning.
        """
        return _UNUSED_OF_MINILM if self.name.startswith(_MINILM) and self.dimension > _UNUSED_OF_MINILM else None

    @property
    def knows_english_only(self) -> bool:
        """Whether a text in another language is near to anything, as to the packaged models; of others it is not known.

        What is not known is taken for no: another model is configured for what it can do.
        """
        return self.name.startswith(_MINILM)

    def direction(self, vector: Vector) -> Vector:
        """Return a vector without what `blend` wrote in the unused place, to be compared with others like it."""
        if self.unused is None or not vector[self.unused]:
            return vector
        own = [*vector[: self.unused], 0.0, *vector[self.unused + 1 :]]
        return normalise(own) or vector

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
    return packed(data).tolist()


def packed(data: bytes) -> array[float]:
    """Return what `to_bytes` packed in four bytes a number: a list takes eight times as much."""
    floats = array("f")
    floats.frombytes(data)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats


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


def blend(vector: Vector, other: Vector | None, weight: float, *, unused: int | None) -> Vector:
    """Return ``(1 - weight) * vector + weight * other`` with L2 norm 1; without another one the vector itself.

    The sum of two directions is shorter than 1. Scaled up, its cosine with everything would grow, and what is blended
    would go before what is not. So what is missing goes to the unused place, where no request has anything: the cosine
    of a request is the mean of its cosines. Of models without such a place the sum is scaled (docs/adr/0067).

    Parameters
    ----------
    vector, other : list of float
        Of L2 norm 1.
    unused : int or None
        See `EmbeddingModel`.

    Examples
    --------
    >>> [round(x, 3) for x in blend([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 0.5, unused=2)]
    [0.5, 0.5, 0.707]
    """
    if other is None:
        return vector
    mixed = [(1.0 - weight) * x + weight * y for x, y in zip(vector, other, strict=True)]
    if unused is None:
        return normalise(mixed) or vector
    mixed[unused] = 0.0
    mixed[unused] = math.sqrt(max(0.0, 1.0 - dot(mixed, mixed)))
    return normalise(mixed) or vector
