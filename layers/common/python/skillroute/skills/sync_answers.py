"""The request and answer models of writing many skills."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from skillroute.core.http.bulk_answers import Result, UpsertCounts, bare_list_of
from skillroute.skills.model import IdentifiedSkill
from skillroute.skills.sync import MAX_SKILLS_OF_CALL, SkillOutcome

_ONE = IdentifiedSkill.model_json_schema()
_STATE = {"type": "boolean", "description": "Left out, the state stays; a new skill is active."}
# Each skill is checked on its own later, so that one that is wrong does not refuse the rest.
_AnySkill = Annotated[
    Any, WithJsonSchema({**_ONE, "properties": {**_ONE["properties"], "is_active": _STATE}, "title": "SkillOfMany"})
]


class UpsertSkillsRequest(BaseModel):
    """Skills to write: ``{"skills": [...]}`` or a bare list."""

    model_config = ConfigDict(extra="forbid")

    skills: list[_AnySkill] = Field(max_length=MAX_SKILLS_OF_CALL)


UpsertSkillsBody = Annotated[UpsertSkillsRequest, bare_list_of("skills")]


class SkillResult(Result):
    """The result of one skill."""

    id: str | None  # type: ignore[assignment]  # skills are named by texts

    @classmethod
    def of(cls, outcome: SkillOutcome) -> SkillResult:
        """Return what the API says of an outcome."""
        return cls(**{**cls.shared(outcome, "skill"), "id": outcome.skill_id})


class UpsertSkillsResponse(UpsertCounts):
    """The results of all skills, in the order of the request."""

    results: list[SkillResult]
    result_type: ClassVar = SkillResult
