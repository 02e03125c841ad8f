"""Skills and the suggestions of new ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from skillroute_client.calls import (
    Body,
    Call,
    conditional,
    given,
    nothing,
    one,
    only_if_new,
    path_of,
    plain,
    plain_list,
)
from skillroute_client.engines import M
from skillroute_client.models.skills import (
    Classification,
    Review,
    Reviewed,
    Skill,
    SkillTool,
    Suggestion,
    SuggestionGroup,
)
from skillroute_client.models.written import WrittenSkills
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import ListGroups, ListSkills, ListSuggestions, PageOptions, SkillFields
from skillroute_client.retrying import Repeat


class Skills(Resource[M]):
    """Skills: what tools are grouped by."""

    @operation
    def create(
        self,
        id: str,  # noqa: A002 (the field's name)
        *,
        name: str,
        description: str,
        keywords: Sequence[str] = (),
        examples: Sequence[str] = (),
        parent_domain: str | None = None,
    ) -> Call[Skill]:
        """Create a skill. Raises `Conflict` when there is one with the id."""
        body = {"id": id, "name": name, "description": description, "keywords": keywords, "examples": examples}
        return Call(
            method="POST",
            path=path_of("skills"),
            body=body | given({"parent_domain": parent_domain}),
            read=one(Skill),
            repeat=Repeat.IF_REFUSED,
        )

    @paged
    def list(self, **where: Unpack[ListSkills]) -> Listing[Skill]:
        """List the active skills, or those that `is_active` says."""
        return Listing(path_of("skills"), Skill, where)

    @operation
    def get(self, skill_id: str) -> Call[Skill]:
        """Return a skill."""
        return Call(method="GET", path=path_of("skills", skill_id), read=one(Skill))

    @operation
    def put(self, skill_id: str, skill: Body, *, if_match: str | None = None, only_new: bool = False) -> Call[Skill]:
        """Write a skill whole; one that is not there is created. What `get` returned can be put back.

        With `only_new` nothing is written over: raises `VersionConflict` when there is one with the id.
        """
        condition = only_if_new() if only_new else conditional(if_match)
        return Call(method="PUT", path=path_of("skills", skill_id), body=plain(skill), read=one(Skill), **condition)

    @operation
    def put_many(self, skills: Iterable[Body], *, dry_run: bool | None = None) -> Call[WrittenSkills]:
        """Write up to 100 skills whole, each judged on its own; a dry run only says what would become of each."""
        body, params = {"skills": plain_list(skills)}, given({"dry_run": dry_run})
        return Call(method="PUT", path=path_of("skills"), params=params, body=body, read=one(WrittenSkills))

    @operation
    def patch(self, skill_id: str, *, if_match: str | None = None, **fields: Unpack[SkillFields]) -> Call[Skill]:
        """Change some fields of a skill."""
        path = path_of("skills", skill_id)
        return Call(method="PATCH", path=path, body=dict(fields), read=one(Skill), **conditional(if_match))

    @operation
    def delete(self, skill_id: str, *, if_match: str | None = None) -> Call[None]:
        """Delete a skill."""
        return Call(method="DELETE", path=path_of("skills", skill_id), read=nothing, **conditional(if_match))

    @paged
    def tools(self, skill_id: str, **page: Unpack[PageOptions]) -> Listing[SkillTool]:
        """List the tools of a skill."""
        return Listing(path_of("skills", skill_id, "tools"), SkillTool, page)

    @operation
    def classify(self, tool_id: int, *, force_reclassify: bool = False) -> Call[Classification]:
        """Classify a tool without waiting for the queue; a person's decision stays unless it is forced."""
        body = {"tool_id": tool_id, "force_reclassify": force_reclassify}
        return Call(method="POST", path=path_of("skills", "classify"), body=body, read=one(Classification))

    @operation
    def describe(self, skill_id: str) -> Call[Suggestion]:
        """Let the language model describe a skill from its tools, as a suggestion."""
        path = path_of("skills", skill_id, "describe")
        return Call(method="POST", path=path, read=one(Suggestion), repeat=Repeat.IF_REFUSED)


class Suggestions(Resource[M]):
    """Suggestions of skills and of descriptions, which people decide."""

    @paged
    def list(self, **where: Unpack[ListSuggestions]) -> Listing[Suggestion]:
        """List suggestions, those that wait unless another status is given."""
        return Listing(path_of("skills", "suggestions"), Suggestion, where)

    @paged
    def groups(self, **where: Unpack[ListGroups]) -> Listing[SuggestionGroup]:
        """List the names that suggestions have, the most frequent first, those that wait unless a status is given."""
        return Listing(path_of("skills", "suggestions", "groups"), SuggestionGroup, where)

    @operation
    def review(self, decisions: Iterable[Body]) -> Call[Reviewed]:
        """Carry out up to 100 decisions on groups or on several, each in a transaction and with a result of its own."""
        path, body = path_of("skills", "suggestions", "review"), {"decisions": plain_list(decisions)}
        # Made twice, the second would find nothing open any more.
        return Call(method="POST", path=path, body=body, read=one(Reviewed), repeat=Repeat.IF_REFUSED)

    @operation
    def get(self, suggestion_id: int) -> Call[Suggestion]:
        """Return a suggestion."""
        return Call(method="GET", path=path_of("skills", "suggestions", suggestion_id), read=one(Suggestion))

    @operation
    def approve(self, suggestion_id: int, edits: Body | None = None) -> Call[Review]:
        """Approve a suggestion, with other fields where `edits` has them."""
        return _decision(suggestion_id, "approve", None if edits is None else plain(edits), Review)

    @operation
    def reject(self, suggestion_id: int, reason: str | None = None) -> Call[Suggestion]:
        """Reject a suggestion."""
        return _decision(suggestion_id, "reject", given({"reason": reason}), Suggestion)

    @operation
    def merge(self, suggestion_id: int, skill_id: str) -> Call[Review]:
        """Let a suggestion lead to a skill that there is already."""
        return _decision(suggestion_id, "merge", {"skill_id": skill_id}, Review)


def _decision(suggestion_id: int, verb: str, body: dict[str, Any] | None, type_: Any) -> Call[Any]:
    # Made twice, the second would be a conflict.
    path = path_of("skills", "suggestions", suggestion_id, verb)
    return Call(method="POST", path=path, body=body, read=one(type_), repeat=Repeat.IF_REFUSED)
