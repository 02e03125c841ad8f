"""`/api/v1/agent-skills`: folders with a `SKILL.md`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response

from skillroute.agent_skills.answers import (
    AgentSkillPatch,
    StoredAgentSkill,
    UpsertAgentSkillsBody,
    UpsertAgentSkillsResponse,
)
from skillroute.agent_skills.model import AgentSkill, AgentSkillFilter
from skillroute.agent_skills.read import AgentSkills
from skillroute.agent_skills.schemas import MAX_NAME, MAX_PATH
from skillroute.agent_skills.sync import SyncAgentSkills
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import BulkJsonRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import ERRORS, NOT_FOUND
from skillroute.core.http.listing import LIST_DOC, STATES, Listing, StateQuery, listing_of
from skillroute.core.http.use_cases import given, require
from skillroute.core.http.versions import ETAG_HEADER, STALE, VERSIONED, IfMatch, etag, tell_version
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor

AgentSkillId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The id of the Agent Skill.")]
Digest = Annotated[
    str, Path(pattern=r"^sha256:[0-9a-f]{64}$", description="The digest of the file, as the list of files has it.")
]
AgentSkillSort = Literal["path", "-path", "id", "-id", "updated_at", "-updated_at"]

_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        **VERSIONED[200],
        "description": "The bytes of the file as they came. Its media type is in the list of files.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
# A file is its owner's, and may be a page with scripts: no browser is to show it under this origin.
_AS_BYTES = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}

router = APIRouter(prefix="/api/v1/agent-skills", tags=["agent skills"], route_class=BulkJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.CATALOG))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Stored = Annotated[AgentSkills, given(AgentSkills)]


@router.put("", summary="Create or change up to 100 Agent Skills")
def put_agent_skills(
    body: UpsertAgentSkillsBody,
    caller: AsWriter,
    sync: Annotated[SyncAgentSkills, given(SyncAgentSkills)],
    dry_run: DryRun = False,
) -> UpsertAgentSkillsResponse:
    """Write Agent Skills with all their files; each is judged on its own, and the answer has its result.

    A skill is the same one when organisation and path are. Unchanged skills are left alone.
    """
    return UpsertAgentSkillsResponse.of(sync(body.agent_skills, caller, dry_run=dry_run))


@router.get("", response_model=list[StoredAgentSkill], summary="List Agent Skills", responses=LIST_DOC)
def list_agent_skills(
    caller: AsReader,
    stored: Stored,
    page: Annotated[Listing, Depends(listing_of(AgentSkillSort, "path"))],
    path: Annotated[Text | None, Query(max_length=MAX_PATH, description="Exactly this path.")] = None,
    name: Annotated[Text | None, Query(max_length=MAX_NAME, description="The last segment of the path.")] = None,
    is_active: StateQuery = "all",
) -> Response:
    """Return a page of Agent Skills by path, or in another order; all conditions must hold."""
    where = AgentSkillFilter(path, name, STATES[is_active])
    found = stored.listed(where, caller, page.order, limit=page.limit, offset=page.offset)

    def cursor(place: int) -> Cursor:
        skill = found.rows[place]
        return page.order.cursor(skill.id, path=skill.path, updated_at=skill.updated_at)

    return page.listed(list(map(StoredAgentSkill.of, found.rows)), cursor, found.total, found.remaining)


@router.get("/{agent_skill_id}", summary="Get an Agent Skill", responses=VERSIONED | NOT_FOUND)
def get_agent_skill(
    agent_skill_id: AgentSkillId, caller: AsReader, stored: Stored, response: Response
) -> StoredAgentSkill:
    """Return an Agent Skill with its front matter and the list of its files."""
    return _shown(stored.get(agent_skill_id, caller), response)


@router.get(
    "/{agent_skill_id}/files/{digest}",
    summary="Get a file of an Agent Skill",
    response_class=Response,
    responses=_FILE | NOT_FOUND,
)
def get_agent_skill_file(agent_skill_id: AgentSkillId, digest: Digest, caller: AsReader, stored: Stored) -> Response:
    """Return a file of an Agent Skill byte for byte, by its digest."""
    file, content = stored.file(agent_skill_id, caller, digest=digest)
    headers = {**_AS_BYTES, ETAG_HEADER: etag(file.digest.removeprefix("sha256:"))}
    return Response(content, media_type="application/octet-stream", headers=headers)


@router.patch("/{agent_skill_id}", summary="Switch an Agent Skill off or on", responses=VERSIONED | NOT_FOUND | STALE)
def patch_agent_skill(
    agent_skill_id: AgentSkillId,
    body: AgentSkillPatch,
    caller: AsWriter,
    stored: Stored,
    response: Response,
    expected: IfMatch,
) -> StoredAgentSkill:
    """Switch an Agent Skill off or on: one that is off is in lists, and in no search."""
    return _shown(stored.switch(agent_skill_id, caller, is_active=body.is_active, expected=expected), response)


@router.delete("/{agent_skill_id}", status_code=204, summary="Delete an Agent Skill", responses=NOT_FOUND | STALE)
def delete_agent_skill(agent_skill_id: AgentSkillId, caller: AsWriter, stored: Stored, expected: IfMatch) -> None:
    """Delete an Agent Skill and its files; the next search no longer finds it."""
    stored.delete(agent_skill_id, caller, expected)


def _shown(skill: AgentSkill, response: Response) -> StoredAgentSkill:
    tell_version(response, skill.version)
    return StoredAgentSkill.of(skill)
