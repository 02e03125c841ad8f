"""`/api/v1/verify`: the check of everything, where an index is at hand."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.verify import MOST_FINDINGS, Verify
from skillroute.core.errors import Forbidden
from skillroute.core.http.auth import Access
from skillroute.core.http.docs import ERRORS


class FindingOut(BaseModel):
    """Something that should not be."""

    rule: str
    subject: str = Field(description="The id of the tool, skill, server, agent or mail document that breaks the rule.")
    detail: str


class VerifyResponse(BaseModel):
    """The number of records that were checked, and what is wrong."""

    ok: bool
    tools: int
    skills: int
    entities: int = Field(description="Servers and agents.")
    mail: int = Field(description="Messages, mail agents and projects.")
    findings: list[FindingOut] = Field(description=f"{MOST_FINDINGS} at most.")


def verify_router(verify: Verify, access: Access) -> APIRouter:
    """Return the route of the check."""
    router = APIRouter(prefix="/api/v1/verify", tags=["operation"], responses=ERRORS)
    AsAdmin = Annotated[Caller, Depends(access.require(Scope.ADMIN))]  # noqa: N806 (a type)

    @router.get("", summary="Check everything")
    def check(caller: AsAdmin) -> VerifyResponse:
        """Recompute from the tables what is stored twice, and compare it: 2 s for 10,000 tools."""
        if not caller.runs_deployment:
            raise Forbidden("the check sees every organisation: it needs a token of none")
        report = verify()
        findings = [FindingOut(rule=f.rule, subject=f.subject, detail=f.detail) for f in report.findings]
        return VerifyResponse(
            ok=not findings,
            tools=report.tools,
            skills=report.skills,
            entities=report.entities,
            mail=report.mail,
            findings=findings,
        )

    return router
