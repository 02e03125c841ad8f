"""`/api/v1/tools/{id}/skills`: a tool's skills, and people's decisions on them (skill-contract BR-006)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.paging import TOTAL_DOC, TOTAL_HEADER, ItemId
from skillroute.core.http.use_cases import given, require
from skillroute.core.http.versions import STALE, VERSIONED, IfMatch, tell_version
from skillroute.skills.answers import ToolSkillOut
from skillroute.skills.assignments.assign import AssignSkills
from skillroute.skills.model import SkillsOfItem
from skillroute.skills.schemas import ManualAssignments

_VERSIONED_LIST: dict[int | str, dict[str, Any]] = {
    200: {"headers": {**TOTAL_DOC[200]["headers"], **VERSIONED[200]["headers"]}}
}

router = APIRouter(prefix="/api/v1/tools", tags=["skills"], route_class=SafeJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.SKILLS))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Assign = Annotated[AssignSkills, given(AssignSkills)]


@router.get("/{item_id}/skills", summary="List a tool's skills", responses=NOT_FOUND | _VERSIONED_LIST)
def list_tool_skills(item_id: ItemId, response: Response, caller: AsReader, assign: Assign) -> list[ToolSkillOut]:
    """Return all of a tool's skills, the most confident first: there are five at most, so there are no pages."""
    found = assign.of_item(item_id, caller)
    response.headers[TOTAL_HEADER] = str(len(found.skills))
    return _shown(found, response)


@router.put("/{item_id}/skills", summary="Assign a tool by hand", responses=NOT_FOUND | CONFLICT | VERSIONED | STALE)
def put_tool_skills(
    item_id: ItemId, body: ManualAssignments, caller: AsWriter, assign: Assign, response: Response, expected: IfMatch
) -> list[ToolSkillOut]:
    """Make these the tool's only skills. No classifier changes them, unless `force_reclassify` asks for it.

    The list as it was read, put back, changes nothing: then nobody has decided.
    """
    decided = [skill.assignment() for skill in body.skills]
    found = assign.of_tool(item_id, decided, caller, as_read=body.sources(), expected=expected)
    return _shown(found, response)


def _shown(found: SkillsOfItem, response: Response) -> list[ToolSkillOut]:
    tell_version(response, found.version)
    return [ToolSkillOut.of(skill) for skill in found.skills]
