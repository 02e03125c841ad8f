"""Requests that use has taught, as a search takes them into account (docs/adr/0071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import EmbeddingModel, Vector

LIFT = 0.7
"""How far a tool's cosine is raised towards that of its nearest learned request, of which its share is taken."""

MAX_ADDED = 20
"""Tools that are candidates because of a learned request alone."""

LEAST_COSINE = 0.4
"""The cosine to a query from which on a learned request counts."""


class Nearness(NamedTuple):
    """A tool's learned request that is nearest to a query.

    Attributes
    ----------
    cosine : float
        0..1.
    share : float
        Of the successful searches near that request, how many went to this tool; 0..1.
    """

    cosine: float
    share: float


class LearnedRequests(Protocol):
    """Learned requests of one organisation, and those of the global catalogue, and tools that are used together."""

    def near(self, vector: Vector) -> Mapping[str, Nearness]:
        """Return for each tool, by its key, the learned request that is nearest to a query, from `LEAST_COSINE` on."""
        ...

    def used_with(self, key: str) -> Sequence[tuple[str, int]]:
        """Return the tools that tasks called together with one, by their keys, and how many tasks; the most first."""
        ...


class Learned(Protocol):
    """The states that are live."""

    def of(self, caller: Caller, model: EmbeddingModel) -> LearnedRequests | None:
        """Return what searches of a caller go by; None where nothing was learned with this model.

        Raises
        ------
        DatabaseUnavailable
            It could not be read, and nothing is known from before.
        """
        ...


def lifted(cosine: float, near: Nearness | None) -> float:
    """Return a tool's cosine with its learned requests: never lower than its own.

    One that is not near to a query takes nothing from its tool, as the mean of both would: then tools that are used
    would lose against those that are not.

    Examples
    --------
    >>> lifted(0.5, Nearness(0.7, 1.0)), lifted(0.5, Nearness(0.3, 1.0)), lifted(0.5, None)
    (0.64, 0.5, 0.5)
    """
    if near is None or near.cosine <= cosine:
        return cosine
    return cosine + LIFT * near.share * (near.cosine - cosine)
