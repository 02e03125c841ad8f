"""`/api/v1/skills`: skills and their tools (skill-contract, API Contracts)."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.auth import Access
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.paging import PAGE_DOC, Page, SkillId
from skillroute.core.text_fields import Text
from skillroute.skills.answers import SkillOut, SkillToolOut
from skillroute.skills.change import ChangeSkill
from skillroute.skills.create import CreateSkill
from skillroute.skills.model import NewSkill, SkillFilter
from skillroute.skills.read import ReadSkills
from skillroute.skills.schemas import SkillCreate, SkillPatch, SkillPut

IsActive = Literal["true", "false", "all"]
_IS_ACTIVE: dict[IsActive, bool | None] = {"true": True, "false": False, "all": None}


def skill_router(create: CreateSkill, change: ChangeSkill, read: ReadSkills, access: Access) -> APIRouter:
    """Return the routes over skills."""
    router = APIRouter(prefix="/api/v1/skills", tags=["skills"], route_class=SafeJsonRoute, responses=ERRORS)
    AsWriter = Annotated[Caller, Depends(access.require(Scope.SKILLS))]  # noqa: N806 (a type)
    AsReader = Annotated[Caller, Depends(access.require(Scope.SEARCH))]  # noqa: N806 (a type)

    @router.post("", status_code=201, summary="Create a skill", responses=CONFLICT)
    def create_skill(body: SkillCreate, caller: AsWriter) -> SkillOut:
        """Create a skill; until it has tools it is found by its description. Deleted ids can be used again."""
        return SkillOut.of(create(NewSkill(**body.model_dump()), caller))

    @router.get("", response_model=list[SkillOut], summary="List skills", responses=PAGE_DOC)
    def list_skills(
        caller: AsReader,
        page: Page,
        is_active: IsActive = "true",
        parent_domain: Annotated[Text | None, Query(max_length=64)] = None,
    ) -> Response:
        """Return a page of skills by name."""
        where = SkillFilter(is_active=_IS_ACTIVE[is_active], parent_domain=parent_domain)
        skills, total = read.page(where, caller, limit=page.limit, offset=page.offset)
        return page.response(map(SkillOut.of, skills), total)

    @router.get("/{skill_id}", summary="Get a skill", responses=NOT_FOUND)
    def get_skill(skill_id: SkillId, caller: AsReader) -> SkillOut:
        """Return a skill, active or not."""
        return SkillOut.of(read.get(skill_id, caller))

    @router.put("/{skill_id}", summary="Write a skill over", responses=NOT_FOUND | CONFLICT)
    def put_skill(skill_id: SkillId, body: SkillPut, caller: AsWriter) -> SkillOut:
        """Write a skill over whole; its tools stay."""
        changes = body.model_dump()
        if changes["is_active"] is None:
            del changes["is_active"]
        return SkillOut.of(change(skill_id, changes, caller))

    @router.patch("/{skill_id}", summary="Change a skill", responses=NOT_FOUND | CONFLICT)
    def patch_skill(skill_id: SkillId, body: SkillPatch, caller: AsWriter) -> SkillOut:
        """Change the fields given. An inactive skill is gone from the next search; its assignments are kept."""
        return SkillOut.of(change(skill_id, body.model_dump(exclude_unset=True), caller))

    @router.delete("/{skill_id}", status_code=204, summary="Delete a skill", responses=NOT_FOUND)
    def delete_skill(skill_id: SkillId, caller: AsWriter) -> None:
        """Delete a skill; its tools lose it, and those left without any are classified again."""
        change.delete(skill_id, caller)

    @router.get(
        "/{skill_id}/tools",
        response_model=list[SkillToolOut],
        summary="List a skill's tools",
        responses=NOT_FOUND | PAGE_DOC,
    )
    def list_tools(skill_id: SkillId, caller: AsReader, page: Page) -> Response:
        """Return a page of a skill's tools, the most confident first."""
        members, total = read.tools(skill_id, caller, limit=page.limit, offset=page.offset)
        return page.response(map(SkillToolOut.of, members), total)

    return router
