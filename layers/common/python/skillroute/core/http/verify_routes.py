"""`/api/v1/verify`: the check of everything, where an index is at hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, create_model

from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.checks import MAX_FINDINGS
from skillroute.core.documents.collection import counted_as
from skillroute.core.documents.verify import Verify
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.use_cases import given, require


class FindingOut(BaseModel):
    """Something that should not be."""

    rule: str
    subject: str = Field(description="The id of the tool, skill, server, agent or mail document that breaks the rule.")
    detail: str


_COUNT_OF = {each.verified_field or each.field: collection for collection, each in counted_as().items()}
_FIELDS: dict[str, Any] = {
    "ok": (bool, Field()),
    **{field: (int, Field(description=of.counted_as.description)) for field, of in _COUNT_OF.items()},
    "findings": (list[FindingOut], Field(description=f"{MAX_FINDINGS} at most.")),
}
VerifyResponse = create_model(
    "VerifyResponse", __doc__="The number of records that were checked, and what is wrong.", **_FIELDS
)


COST = 200.0
"""Units of a plain search, over 10,000 tools."""


router = APIRouter(prefix="/api/v1/verify", tags=["operations"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)


@router.get("", response_model=VerifyResponse, summary="Check everything")
async def verify_everything(
    caller: Annotated[Caller, Depends(require(Scope.ADMIN))],
    verify: Annotated[Verify, given(Verify)],
    lanes: Annotated[Lanes, given(Lanes)],
) -> BaseModel:
    """Recompute from the tables what is stored twice, and compare it: 2 s for 10,000 tools."""
    if not caller.runs_deployment:
        raise Forbidden("the check sees every organisation: it needs a token of none", ErrorCode.OPERATOR_ONLY)
    report = await lanes.charged(caller, COST, verify)
    findings = [FindingOut(rule=f.rule, subject=f.subject, detail=f.detail) for f in report.findings]
    checked = {field: report.checked[collection] for field, collection in _COUNT_OF.items()}
    return VerifyResponse(ok=not findings, **checked, findings=findings)
