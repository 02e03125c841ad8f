"""`/api/v1/access`: rules of who finds and calls what, and their answer about any caller."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from skillroute.access.answers import AccessExplained, AccessRule, AccessRuleBody, AccessRuleWritten, ExplainAccessBody
from skillroute.access.explain import ExplainAccess
from skillroute.access.manage import ManageRules
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import ERRORS, NOT_FOUND
from skillroute.core.http.use_cases import given, require

router = APIRouter(prefix="/api/v1/access", tags=["access"], route_class=SafeJsonRoute, responses=ERRORS)

AsKeeper = Annotated[Caller, Depends(require(Scope.ADMIN))]
Manage = Annotated[ManageRules, given(ManageRules)]
RuleId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The id of the rule.")]


@router.get("/rules", summary="List rules of access")
def list_access_rules(caller: AsKeeper, manage: Manage) -> list[AccessRule]:
    """Return the rules that apply to the caller's organisation: its own, and the deployment's (`org_id` null)."""
    return [AccessRule.of(rule) for rule in manage.rules(caller)]


@router.post("/rules", status_code=201, summary="Create a rule of access")
def create_access_rule(body: AccessRuleBody, caller: AsKeeper, manage: Manage) -> AccessRuleWritten:
    """Store a rule of the caller's organisation; of a caller without one it is the deployment's, and applies to all.

    It is in force within two seconds everywhere. Callers with scope `admin` are exempt.
    """
    return AccessRuleWritten.of(manage.create(body.rule(), caller))


@router.get("/rules/{rule_id}", summary="Show a rule of access", responses=NOT_FOUND)
def get_access_rule(rule_id: RuleId, caller: AsKeeper, manage: Manage) -> AccessRule:
    """Return a rule that applies to the caller's organisation."""
    return AccessRule.of(manage.get(rule_id, caller))


@router.put("/rules/{rule_id}", summary="Replace a rule of access", responses=NOT_FOUND)
def put_access_rule(rule_id: RuleId, body: AccessRuleBody, caller: AsKeeper, manage: Manage) -> AccessRuleWritten:
    """Write a rule over the one of this id: what the body leaves out is empty then."""
    return AccessRuleWritten.of(manage.replace(rule_id, body.rule(), caller))


@router.delete("/rules/{rule_id}", status_code=204, summary="Delete a rule of access", responses=NOT_FOUND)
def delete_access_rule(rule_id: RuleId, caller: AsKeeper, manage: Manage) -> None:
    """Delete a rule. Where it was the last one that allows, all is allowed again that no rule denies."""
    manage.delete(rule_id, caller)


@router.post("/explain", summary="Explain what a caller may find and call", responses=NOT_FOUND)
def explain_access(
    body: ExplainAccessBody, caller: AsKeeper, explain: Annotated[ExplainAccess, given(ExplainAccess)]
) -> AccessExplained:
    """Return whether a caller with these roles and groups may find and call an object, and which rule decides."""
    return AccessExplained.of(explain(body.asked(), caller))
