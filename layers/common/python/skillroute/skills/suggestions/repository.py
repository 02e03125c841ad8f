"""The rows of mcp.skill_suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.skills.classification.model import SkillDraft, ToolProfile
from skillroute.skills.model import AssignmentSource, Skill, SkillKey
from skillroute.skills.suggestions.model import (
    Suggestion,
    SuggestionExample,
    SuggestionGroup,
    SuggestionKind,
    SuggestionStatus,
)


class SuggestionRepository:
    """Suggestions of classifiers."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def add(self, draft: SkillDraft, tool: ToolProfile, source: AssignmentSource) -> tuple[int, bool]:
        """Suggest a skill for a tool, in place of its open one.

        Returns the suggestion's id, and whether its name is new: no other of it is open, nor was this one before.
        """
        id_, is_first = self._run(
            "insert_suggestion",
            org_id=tool.org_id,
            name=draft.name,
            description=draft.description,
            tool_id=tool.id,
            tool_name=tool.name,
            reasoning=draft.reasoning,
            source=source.value,
        )[0]
        return id_, is_first

    def add_description(self, skill: Skill, description: str, reasoning: str | None) -> int:
        id_: int = self._run(
            "insert_description",
            org_id=skill.org_id,
            name=skill.name,
            description=description,
            reasoning=reasoning,
            source=AssignmentSource.LLM_AUTO.value,
            skill_key=skill.key,
        )[0][0]
        return id_

    def drop_of(self, item_ids: Sequence[int]) -> None:
        """Remove open suggestions that were made for these tools."""
        self._run("drop_suggestions_of", tool_ids=list(item_ids))

    def drop_description_of(self, skill_key: SkillKey) -> None:
        """Remove the open suggestion of a description for a skill."""
        self._run("drop_description_of", skill_key=skill_key)

    def same_name(
        self, name: str, org_id: str | None, *, lock: bool = False
    ) -> list[tuple[int, int | None, AssignmentSource]]:
        """Return id, tool and source of the open suggestions of a name, oldest first; `lock` locks them."""
        rows = self._run("lock_same_suggestions" if lock else "same_suggestions", name=name, org_id=org_id)
        return [(id_, tool_id, AssignmentSource(source)) for id_, tool_id, source in rows]

    def was_refused(self, name: str, org_id: str | None) -> bool:
        """Return whether a suggestion of this name was rejected, or approved into a skill that is deleted."""
        return bool(self._run("was_refused", name=name, org_id=org_id)[0][0])

    def often(self, least: int) -> list[tuple[str, str | None]]:
        """Return names, with the organisation, that language models suggested for at least so many tools."""
        return [(name, org_id) for name, org_id in self._run("suggested_often", least=least)]

    def get(self, suggestion_id: int, org_id: str | None, *, rights: Rights) -> Suggestion | None:
        rows = self._run("get_suggestion", id=suggestion_id, org_id=org_id, rights=rights.as_json())
        return _to_suggestion(rows[0]) if rows else None

    def some(self, suggestion_ids: Sequence[int], org_id: str | None, *, rights: Rights) -> dict[int, Suggestion]:
        """Return the suggestions of these ids that a caller of the organisation with these rights sees."""
        rows = self._run("get_suggestions", ids=list(suggestion_ids), org_id=org_id, rights=rights.as_json())
        return {row[0]: _to_suggestion(row) for row in rows}

    def lock(self, suggestion_ids: Sequence[int]) -> dict[int, SuggestionStatus]:
        """Lock suggestions and the open ones of their names to the end of the transaction.

        Returns the status of each; those that are gone are left out.
        """
        rows = self._run("lock_suggestions", ids=list(suggestion_ids))
        return {id_: SuggestionStatus(status) for id_, status in rows if id_ in set(suggestion_ids)}

    def groups(
        self, status: SuggestionStatus, org_id: str | None, *, limit: int, offset: int, rights: Rights
    ) -> tuple[list[SuggestionGroup], int]:
        """Return a page of the groups of suggestions, the largest first, and how many groups there are in all."""
        conditions = {"status": status.value, "org_id": org_id, "rights": rights.as_json()}
        total: int = self._run("count_suggestion_groups", **conditions)[0][0]
        if offset >= total:
            return [], total
        rows = self._run("list_suggestion_groups", **conditions, limit=limit, offset=offset)
        return [_to_group(row) for row in rows], total

    def listed(
        self,
        status: SuggestionStatus | None,
        org_id: str | None,
        order: Order,
        *,
        name: str | None = None,
        limit: int,
        offset: int,
        rights: Rights,
    ) -> Listed[Suggestion]:
        """Return a page in an order (`id`, `name` or `updated_at`), of a name when given, and how many there are."""
        conditions = {
            "status": status.value if status else None,
            "org_id": org_id,
            "rights": rights.as_json(),
            "name": name,
            **order.params(),
        }
        [[total, behind]] = self._run("count_suggestions", **conditions)
        if offset >= behind:
            return Listed([], total, 0)
        rows = self._run("list_suggestions", **conditions, limit=limit, offset=offset)
        return Listed([_to_suggestion(row) for row in rows], total, behind - offset)

    def review(
        self,
        suggestion_ids: Sequence[int],
        status: SuggestionStatus,
        *,
        skill_key: SkillKey | None,
        reviewer: str | None,
        reason: str | None,
    ) -> None:
        self._run(
            "review_suggestions",
            ids=list(suggestion_ids),
            status=status.value,
            skill_key=skill_key,
            reviewer=reviewer,
            reason=reason,
        )


def _to_suggestion(row: list[Any]) -> Suggestion:
    (id_, org_id, kind, name, description, tool_id, tool_name, target, reasoning, source, status, resolved, reviewer,
     reason, created_at, reviewed_at, name_key) = row  # fmt: skip
    return Suggestion(
        id=id_,
        org_id=org_id,
        kind=SuggestionKind(kind),
        suggested_name=name,
        suggested_description=description,
        source_tool_id=tool_id,
        source_tool_name=tool_name,
        target_skill_key=target,
        reasoning=reasoning,
        source=AssignmentSource(source),
        status=SuggestionStatus(status),
        resolved_skill_key=resolved,
        reviewed_by=reviewer,
        review_reason=reason,
        created_at=created_at,
        reviewed_at=reviewed_at,
        name_key=name_key,
    )


def _to_group(row: list[Any]) -> SuggestionGroup:
    org_id, kind, name, description, target, number, sources, first_created_at, last_created_at, examples = row
    return SuggestionGroup(
        org_id=org_id,
        kind=SuggestionKind(kind),
        suggested_name=name,
        suggested_description=description,
        target_skill_key=target,
        count=number,
        sources=tuple(AssignmentSource(source) for source in sorted(sources)),
        first_created_at=first_created_at,
        last_created_at=last_created_at,
        examples=tuple(
            SuggestionExample(id_, own_name, tool_id, tool_name, server or None)
            for id_, own_name, tool_id, tool_name, server in examples
        ),
    )
