"""A person's decision on many suggestions, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skillroute.core.answer_size import size_of
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.errors.public import public_sentence
from skillroute.skills.model import MAX_TOOLS_PER_SKILL, Skill
from skillroute.skills.suggestions.model import Suggestion, SuggestionStatus

MAX_SUGGESTIONS = MAX_TOOLS_PER_SKILL
"""Suggestions that one decision is about; of a larger group these are the oldest."""

_BYTES_OF_ONE = 120
"""The largest number of decided suggestions that an answer lists."""

_BYTES_OF_A_FAILED_ONE = 160
"""The same of one that was not, beside the sentence that says why."""

_BYTES_OF_A_DECISION = 1_000
"""The same of a decision and its skill, beside the texts of the latter."""


class ReviewAction(StrEnum):
    """The decisions that there are, by what they make of a suggestion."""

    APPROVE = "approve"
    REJECT = "reject"
    MERGE = "merge"

    @property
    def status(self) -> SuggestionStatus:
        """The state of a suggestion on which this was decided."""
        return {
            ReviewAction.APPROVE: SuggestionStatus.APPROVED,
            ReviewAction.REJECT: SuggestionStatus.REJECTED,
            ReviewAction.MERGE: SuggestionStatus.MERGED,
        }[self]


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """One decision.

    Attributes
    ----------
    name : str or None
        It is about all open suggestions of the caller's of this name; None: about those of `ids`.
    edits : mapping
        Approving: fields of the new skill that are to be otherwise than suggested.
    skill_id : str or None
        Merging: the skill that is to have the tools.
    reason : str or None
        Rejecting: why.
    """

    action: ReviewAction
    name: str | None = None
    ids: Sequence[int] = ()
    edits: Mapping[str, Any] = field(default_factory=dict)
    skill_id: str | None = None
    reason: str | None = None


@dataclass(slots=True)
class DecisionOutcome:
    """The outcome of one decision.

    Attributes
    ----------
    decided : list of Suggestion
        Those that were decided on as asked, by id.
    failed : dict of int to SkillrouteError
        Those that were not, by id.
    also_resolved : int
        Other open suggestions of the same names, merged into the skill.
    error : SkillrouteError or None
        Why nothing at all was done.
    """

    decision: GroupDecision
    decided: list[Suggestion] = field(default_factory=list)
    failed: dict[int, SkillrouteError] = field(default_factory=dict)
    skill: Skill | None = None
    also_resolved: int = 0
    error: SkillrouteError | None = None

    @property
    def answer_bytes(self) -> int:
        """How many bytes the answer has of it on the way, at most."""
        texts = [] if self.skill is None else [self.skill.name, self.skill.description]
        texts += [] if self.skill is None else [*self.skill.keywords, *self.skill.examples]
        errors = [*self.failed.values(), *([] if self.error is None else [self.error])]
        return (
            _BYTES_OF_A_DECISION
            + size_of([self.decision.name, *texts])
            + _BYTES_OF_ONE * len(self.decided)
            + sum(_BYTES_OF_A_FAILED_ONE + size_of(public_sentence(error)) for error in errors)
        )
