"""What became of the servers or agents of one call."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.outcomes import Outcome, Report


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """What became of a server's tools; of how many of them the embedding model does not take the text."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class EntityOutcome(Outcome):
    """What became of one server or agent of a call; a server is updated, too, when only its tools changed.

    Attributes
    ----------
    path, name : str or None
        None when it could not be read.
    tools : ToolCounts or None
        None where no tools were given, or it failed.
    """

    path: str | None = None
    name: str | None = None
    tools: ToolCounts | None = None


class RegistryReport(Report[EntityOutcome]):
    """What became of all servers or agents, in the order of the call."""
