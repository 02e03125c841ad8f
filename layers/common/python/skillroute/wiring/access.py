"""Who may call over HTTP, and how much."""

from __future__ import annotations

from skillroute.core.http.auth import Access, iam_access, jwt_access, open_access
from skillroute.core.http.claims import TokenRules
from skillroute.core.http.iam import admin_roles
from skillroute.core.rationing.budgets import Budgets, Rates
from skillroute.core.rationing.shared import PostgresBudgets
from skillroute.core.rationing.work import Work
from skillroute.core.settings import WebSettings
from skillroute.wiring.parts import CoreParts


def make_access(settings: WebSettings) -> Access:
    """Return who may call."""
    access = _access(settings)
    access.open_below = "/v0.1/" if settings.public_registry else None
    return access


def _access(settings: WebSettings) -> Access:
    if settings.auth == "none":
        return open_access()
    if settings.auth == "iam":
        return iam_access(admin_roles(settings.iam_admins))
    rules = TokenRules(
        issuer=settings.jwt_issuer or "",
        audiences=settings.jwt_audiences,
        org_claim=settings.jwt_org_claim,
        agent_claim=settings.jwt_agent_claim,
        roles_claim=settings.jwt_roles_claim,
        groups_claim=settings.jwt_groups_claim,
        org_required=settings.jwt_require_org,
        scope_prefix=settings.jwt_scope_prefix,
    )
    if settings.jwt_keys is None:
        return jwt_access(rules)
    from skillroute.core.http.keys import KeySet

    return jwt_access(rules, KeySet(settings.jwt_keys).claims_of)


def make_work(core: CoreParts) -> Work:
    """Return the admission of work: budgets where callers are identified, and turns."""
    settings = core.of(WebSettings)
    if settings.auth == "none":
        return Work(Budgets(Rates()), core.turns)
    rates = Rates(settings.budget_organisation, settings.budget_caller)
    return Work(Budgets(rates, PostgresBudgets(lambda: core.database)), core.turns)
