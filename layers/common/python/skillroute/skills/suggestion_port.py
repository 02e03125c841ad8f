"""Suggestions, as the use cases see them.

`org_id` is the caller's everywhere: it sees global rows and its own, and writes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillroute.skills.classification import SkillDraft, ToolProfile
from skillroute.skills.model import AssignmentSource, Skill, SkillKey
from skillroute.skills.suggestions import Suggestion, SuggestionStatus


class SuggestionRepository(Protocol):
    """Suggestions of classifiers."""

    def add(self, draft: SkillDraft, tool: ToolProfile, source: AssignmentSource) -> tuple[int, bool]:
        """Suggest a skill for a tool, in place of its open one.

        Returns the suggestion's id, and whether its name is new: no other of it is open, nor was this one before.
        """
        ...

    def add_description(self, skill: Skill, description: str, reasoning: str | None) -> int: ...

    def drop_of(self, item_ids: Sequence[int]) -> None:
        """Remove open suggestions that were made for these tools."""
        ...

    def drop_description_of(self, skill_key: SkillKey) -> None:
        """Remove the open suggestion of a description for a skill."""
        ...

    def same_name(
        self, name: str, org_id: str | None, *, hold: bool = False
    ) -> list[tuple[int, int | None, AssignmentSource]]:
        """Return id, tool and source of the open suggestions of a name, oldest first; `hold` holds them meanwhile."""
        ...

    def was_refused(self, name: str, org_id: str | None) -> bool:
        """Tell whether a suggestion of this name was rejected, or approved into a skill that is deleted."""
        ...

    def often(self, least: int) -> list[tuple[str, str | None]]:
        """Return names, with the organisation, that language models suggested for at least so many tools."""
        ...

    def get(self, suggestion_id: int, org_id: str | None) -> Suggestion | None: ...

    def hold(self, suggestion_id: int) -> SuggestionStatus | None:
        """Hold a suggestion and the open ones of its name to the end of the transaction.

        Returns its status; None when it is gone.
        """
        ...

    def page(
        self, status: SuggestionStatus | None, org_id: str | None, *, limit: int, offset: int
    ) -> tuple[list[Suggestion], int]:
        """Return a page by id, and how many there are in all."""
        ...

    def review(
        self,
        suggestion_ids: Sequence[int],
        status: SuggestionStatus,
        *,
        skill_key: SkillKey | None,
        reviewer: str | None,
        reason: str | None,
    ) -> None: ...
