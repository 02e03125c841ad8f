"""Routes that ask classifiers and language models at once: `/api/v1/skills/classify` and `/{id}/describe`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, CREATED, ERRORS, NOT_FOUND
from skillroute.core.http.paging import SkillId
from skillroute.core.http.use_cases import given, require
from skillroute.skills.answers import ClassifyResponse, SuggestionOut
from skillroute.skills.classification.classify import ClassifyTools
from skillroute.skills.classification.describe import DescribeSkill
from skillroute.skills.schemas import ClassifyRequest

router = APIRouter(prefix="/api/v1/skills", tags=["skills"], route_class=SafeJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.SKILLS))]


@router.post("/classify", summary="Classify a tool at once", responses=NOT_FOUND | CONFLICT)
def classify_tool(
    body: ClassifyRequest, caller: AsWriter, classify: Annotated[ClassifyTools, given(ClassifyTools)]
) -> ClassifyResponse:
    """Classify a tool without waiting for the queue. A person's decision stays, unless `force_reclassify`."""
    outcome = classify.for_caller(body.tool_id, caller, name=body.tool_name, force=body.force_reclassify)
    return ClassifyResponse.of(outcome, datetime.now(UTC))


@router.post(
    "/{skill_id}/describe",
    status_code=201,
    summary="Suggest a description",
    responses=CREATED | NOT_FOUND | CONFLICT,
)
def describe_skill(
    skill_id: SkillId, caller: AsWriter, describe: Annotated[DescribeSkill, given(DescribeSkill)], response: Response
) -> SuggestionOut:
    """Let the language model describe a skill from its tools, as a suggestion to be approved or rejected."""
    suggestion = describe(skill_id, caller)
    response.headers["Location"] = f"/api/v1/skills/suggestions/{suggestion.id}"
    return SuggestionOut.of(suggestion)
