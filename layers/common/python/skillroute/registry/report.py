"""Outcomes of the servers or agents of one call."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.bulk.outcomes import Outcome, Report


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """The outcomes of a server's tools, counted; also of how many the embedding model refuses the text."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class EntityOutcome(Outcome):
    """The outcome of one server or agent of a call; a server is updated, too, when only its tools changed.

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

    @property
    def has_refusal(self) -> bool:
        """Whether its own text is refused, or one of its tools'."""
        return self.is_refused or (self.tools is not None and self.tools.refused > 0)


RegistryReport = Report[EntityOutcome]
