"""Who calls, from what the gateway has verified (decisions 26 and 27).

`jwt`: the claims that API Gateway's authorizer checked. `iam`: callers that may invoke the API are trusted with all
scopes and global items. `none`: the laptop, where nothing checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import Request

from skillroute.domain.caller import LAPTOP, Caller, Scope
from skillroute.errors import Forbidden, Unauthenticated

AuthMode = Literal["jwt", "iam", "none"]


def require(scope: Scope, mode: AuthMode) -> Callable[[Request], Caller]:
    """Return a dependency that answers with the caller, or refuses one without the scope."""

    def caller(request: Request) -> Caller:
        found = LAPTOP if mode == "none" else _from_gateway(request, mode)
        if not found.may(scope):
            raise Forbidden(f"the token lacks the scope {scope.value!r}")
        return found

    return caller


def _from_gateway(request: Request, mode: AuthMode) -> Caller:
    context = request.scope.get("aws.event", {}).get("requestContext", {})
    authorizer: dict[str, Any] = context.get("authorizer") or {}
    if mode == "iam" and authorizer.get("iam"):
        return Caller(org_id=None, scopes=frozenset({Scope.ADMIN}))
    claims: dict[str, Any] | None = (authorizer.get("jwt") or {}).get("claims")
    if mode == "jwt" and claims is not None:
        granted = set(str(claims.get("scope", "")).split())
        return Caller(
            org_id=str(claims["org_id"]) if claims.get("org_id") else None,
            scopes=frozenset(known for known in Scope if known.value in granted),
            name=str(claims["sub"])[:255] if claims.get("sub") else None,
        )
    raise Unauthenticated("the request carries no verified identity")
