"""What became of the servers or agents of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.services.item_rows import Status


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """What became of a server's tools."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class EntityOutcome:
    """What became of one server or agent of a call.

    Attributes
    ----------
    index : int
        Its place in the call, from 0.
    status : str
        A server is updated, too, when only its tools changed.
    id : int or None
        None when it failed.
    path, name : str or None
        None when it could not be read.
    tools : ToolCounts or None
        None where no tools were given, or it failed.
    field, reason : str or None
        What was wrong with it, when it failed.
    """

    index: int
    status: Status
    id: int | None = None
    path: str | None = None
    name: str | None = None
    tools: ToolCounts | None = None
    field: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RegistryReport:
    """What became of all servers or agents, in the order of the call.

    `embedding_unavailable` tells that some, or tools of theirs, were stored without a vector: they are found by their
    words until the vector can be made, which needs nobody's help.
    """

    outcomes: Sequence[EntityOutcome]
    embedding_unavailable: bool

    def count(self, status: Status) -> int:
        """Return how many ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)
