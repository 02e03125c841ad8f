"""`/api/v1/skills`: skills and their tools (skill-contract, API Contracts)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import CONFLICT, CREATED, ERRORS, NOT_FOUND
from skillroute.core.http.listing import LIST_DOC, STATES, Listing, StateQuery, listing_of
from skillroute.core.http.paging import PAGE_DOC, Page, SkillId
from skillroute.core.http.use_cases import given, require
from skillroute.core.http.versions import STALE, VERSIONED, IfMatch, OnlyNew, tell_version
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor
from skillroute.skills.answers import SkillOut, SkillToolOut
from skillroute.skills.change import ChangeSkill
from skillroute.skills.create import CreateSkill
from skillroute.skills.model import NewSkill, Skill, SkillFilter
from skillroute.skills.put import PutSkill
from skillroute.skills.read import ReadSkills
from skillroute.skills.schemas import SkillCreate, SkillPatch, SkillPut
from skillroute.skills.sync import SyncSkills
from skillroute.skills.sync_answers import UpsertSkillsBody, UpsertSkillsResponse

SkillSort = Literal["name", "-name", "id", "-id", "updated_at", "-updated_at"]
SkillListing = Annotated[Listing, Depends(listing_of(SkillSort, "name", str))]

CREATED_SKILL: dict[int | str, dict[str, Any]] = {201: {"model": SkillOut, **CREATED[201]}}


router = APIRouter(prefix="/api/v1/skills", tags=["skills"], route_class=SafeJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.SKILLS))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Change = Annotated[ChangeSkill, given(ChangeSkill)]
Read = Annotated[ReadSkills, given(ReadSkills)]


@router.post("", status_code=201, summary="Create a skill", responses=CREATED | CONFLICT)
def create_skill(
    body: SkillCreate, caller: AsWriter, create: Annotated[CreateSkill, given(CreateSkill)], response: Response
) -> SkillOut:
    """Create a skill; until it has tools it is found by its description. Deleted ids can be used again."""
    skill = create(NewSkill(**body.model_dump()), caller)
    response.headers["Location"] = _place_of(skill)
    return _shown(skill, response)


@router.put("", summary="Create or change up to 100 skills")
def put_skills(
    body: UpsertSkillsBody, caller: AsWriter, sync: Annotated[SyncSkills, given(SyncSkills)], dry_run: DryRun = False
) -> UpsertSkillsResponse:
    """Write skills whole, each judged on its own; the answer says what became of it. Their tools stay."""
    return UpsertSkillsResponse.of(sync(body.skills, caller, dry_run=dry_run))


@router.get("", response_model=list[SkillOut], summary="List skills", responses=LIST_DOC)
def list_skills(
    caller: AsReader,
    read: Read,
    page: SkillListing,
    is_active: StateQuery = "true",
    parent_domain: Annotated[Text | None, Query(max_length=64)] = None,
) -> Response:
    """Return a page of skills by name, or in another order."""
    where = SkillFilter(is_active=STATES[is_active], parent_domain=parent_domain)
    found = read.listed(where, caller, page.order, limit=page.limit, offset=page.offset)

    def cursor(place: int) -> Cursor:
        skill = found.rows[place]
        return page.order.cursor(skill.id, name=skill.name, updated_at=skill.updated_at)

    return page.listed(list(map(SkillOut.of, found.rows)), cursor, found.total, found.remaining)


@router.get("/{skill_id}", summary="Get a skill", responses=VERSIONED | NOT_FOUND)
def get_skill(skill_id: SkillId, caller: AsReader, read: Read, response: Response) -> SkillOut:
    """Return a skill, active or not."""
    return _shown(read.get(skill_id, caller), response)


@router.put(
    "/{skill_id}",
    response_model=SkillOut,
    summary="Create or replace a skill",
    responses=VERSIONED | CREATED_SKILL | CONFLICT | STALE,
)
def put_skill(
    skill_id: SkillId,
    body: SkillPut,
    caller: AsWriter,
    put: Annotated[PutSkill, given(PutSkill)],
    response: Response,
    expected: IfMatch,
    only_new: OnlyNew,
) -> SkillOut:
    """Replace a skill, whose tools stay, or create it (201). What is stored already changes nothing."""
    fields = body.content(skill_id, caller.org_id)
    outcome = put(skill_id, fields, body.is_active, caller, expected, only_new=only_new)
    if outcome.is_new:
        response.status_code = 201
        response.headers["Location"] = _place_of(outcome.skill)
    return _shown(outcome.skill, response)


@router.patch("/{skill_id}", summary="Change a skill", responses=VERSIONED | NOT_FOUND | CONFLICT | STALE)
def patch_skill(
    skill_id: SkillId, body: SkillPatch, caller: AsWriter, change: Change, response: Response, expected: IfMatch
) -> SkillOut:
    """Change the fields given. An inactive skill is gone from the next search; its assignments are kept."""
    return _shown(change(skill_id, body.changes(skill_id, caller.org_id), caller, expected=expected), response)


@router.delete("/{skill_id}", status_code=204, summary="Delete a skill", responses=NOT_FOUND | STALE)
def delete_skill(skill_id: SkillId, caller: AsWriter, change: Change, expected: IfMatch) -> None:
    """Delete a skill; its tools lose it, and those left without any are classified again."""
    change.delete(skill_id, caller, expected)


@router.get(
    "/{skill_id}/tools",
    response_model=list[SkillToolOut],
    summary="List a skill's tools",
    responses=NOT_FOUND | PAGE_DOC,
)
def list_skill_tools(skill_id: SkillId, caller: AsReader, read: Read, page: Page) -> Response:
    """Return a page of a skill's tools, the most confident first."""
    members, total = read.tools(skill_id, caller, limit=page.limit, offset=page.offset)
    return page.response(map(SkillToolOut.of, members), total)


def _shown(skill: Skill, response: Response) -> SkillOut:
    tell_version(response, skill.version)
    return SkillOut.of(skill)


def _place_of(skill: Skill) -> str:
    return f"/api/v1/skills/{skill.id}"
