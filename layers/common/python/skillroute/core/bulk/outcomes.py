"""Outcomes of the things that one call writes, one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from skillroute.core.errors.problems import FieldProblem

Status = Literal["created", "updated", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one of them.

    Attributes
    ----------
    index : int
        Its place in the call, from 0.
    status : str
    id : int or None
        None when it failed.
    problems : sequence of FieldProblem
        What was wrong with it, when it failed.
    warnings : sequence of FieldProblem
        What is questionable about it, also where it failed.
    is_refused : bool
        Whether it is stored and the embedding model does not take its text: it is found by its words only.
    """

    index: int
    status: Status
    id: int | None = None
    problems: Sequence[FieldProblem] = ()
    warnings: Sequence[FieldProblem] = ()
    is_refused: bool = False

    @property
    def field(self) -> str | None:
        """The first field that was wrong; None unless it failed."""
        return self.problems[0].field if self.problems else None

    @property
    def reason(self) -> str | None:
        """The first problem; None unless it failed."""
        return self.problems[0].message if self.problems else None

    @property
    def has_refusal(self) -> bool:
        """Whether its text is refused, or that of something it consists of."""
        return self.is_refused


OutcomeT_co = TypeVar("OutcomeT_co", bound=Outcome, covariant=True)


@dataclass(frozen=True, slots=True)
class Report(Generic[OutcomeT_co]):
    """The outcomes of all, in the order of the call.

    `embedding_unavailable`: some, or what belongs to them, were stored without a vector: they are found by
    their words until the vector can be made, which needs nobody's help. `embedding_refused`: the model does
    not take the text of some, or of what belongs to them: that stays so until the text is another.
    """

    outcomes: Sequence[OutcomeT_co]
    embedding_unavailable: bool
    embedding_refused: bool = False

    def count(self, status: Status) -> int:
        """Return how many ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)
