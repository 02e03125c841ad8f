"""The outcome of an import."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class ImportReport:
    """The outcome of all sources.

    Attributes
    ----------
    counts : dict of counters
        How many of each kind were created, updated, unchanged, removed and failed; lines of an export by their kinds.
    tools : counter
        The same of the tools that servers came with; `removed` are those that these no longer have, `refused` those
        whose texts the embedding model does not take.
    problems : list of str
        Names each that was not stored.
    refused : list of str
        Names each that was stored and whose text the embedding model does not take.
    warnings : list of str
        Names each field that are unknown and that was probably meant otherwise.
    left_out : list of str
        Names what is missing of things that were stored: the import is then not a whole one.
    notes : list of str
        What a person should know, such as why nothing was removed.
    waiting_for_model : bool
        Whether some have no vector until the embedding model is back.
    """

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    tools: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waiting_for_model: bool = False

    def fail(self, kind: str, problem: str) -> None:
        """Note something that was not stored."""
        self.counts[kind]["failed"] += 1
        self.problems.append(problem)
