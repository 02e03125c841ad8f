"""Who calls, and what they may (decisions 26 and 27; docs/adr/0013).

`jwt`: by the claims that API Gateway's authorizer vouches for, or, where no gateway stands before the app, by a bearer
token that one of the configured keys has signed. `iam`: by the identity that signed the request; roles that are named
may do everything, any other caller searches, and all are global. `none`: the laptop, where nothing checks.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from anyio import to_thread
from starlette.requests import Request

from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, Unauthenticated
from skillroute.core.http.challenge import Challenge, InsufficientScope, InvalidToken, NoIdentity
from skillroute.core.http.claims import TokenRules
from skillroute.core.http.iam import Role, role_of
from skillroute.core.http.protected_resource import url_of
from skillroute.core.rights.decide import Rights
from skillroute.core.rights.port import RightsOf

Identify = Callable[[Request], Caller]
ClaimsOf = Callable[[str], Mapping[str, Any]]

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)  # RFC 6750, section 2.1


class Guard(ABC):
    """A dependency that answers with the caller, or refuses.

    Parameters
    ----------
    scope : Scope or None
        What the caller must be allowed; None lets in any caller who can be identified.
    """

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope

    @abstractmethod
    async def __call__(self, request: Request) -> Caller:
        """Return the caller. Raises `Unauthenticated` and `Forbidden`."""


class IdentityGuard(Guard):
    """A guard that asks who sends a request.

    Parameters
    ----------
    identify : callable
        Says who sends a request; raises `Unauthenticated`.
    scope : Scope or None
        See `Guard`.
    scope_prefix : str
        What tokens put before scopes.
    metadata_path : str, optional
        Where the metadata of what is guarded are, which challenges then name.
    rights_of : callable
        Returns what looks up the rules about a caller, if there is any.
    """

    def __init__(
        self,
        identify: Identify,
        scope: Scope | None,
        scope_prefix: str = "",
        metadata_path: str | None = None,
        rights_of: Callable[[], RightsOf | None] = lambda: None,
    ) -> None:
        super().__init__(scope)
        self._rights_of = rights_of
        self._identify = identify
        self._scope_prefix = scope_prefix
        self._metadata_path = metadata_path

    async def __call__(self, request: Request) -> Caller:
        """Return the caller. Raises `Unauthenticated` and `Forbidden`."""
        try:
            caller = self._admitted(request)
        except Challenge as refused:
            if self._metadata_path is not None:
                refused.point_to(url_of(request, self._metadata_path))
            raise
        # Who is let in for no scope sees neither tools nor servers.
        return caller if self.scope is None else await with_rights(request, caller, self._rights_of())

    def _admitted(self, request: Request) -> Caller:
        # A route may ask twice: before it reads the body, and for its own sake.
        caller: Caller | None = getattr(request.state, "caller", None)
        if caller is None:
            caller = request.state.caller = self._identify(request)
        if self.scope is not None and not caller.may(self.scope):
            raise self.refusal(self.scope)
        return caller

    def refusal(self, scope: Scope) -> Forbidden:
        """Return the error for a caller without a scope."""
        return InsufficientScope(scope.value, self._scope_prefix + scope.value)


class RoleGuard(IdentityGuard):
    """A guard of callers that have no tokens to ask scopes of."""

    def refusal(self, scope: Scope) -> Forbidden:
        return Forbidden("this identity may only search", ErrorCode.INSUFFICIENT_SCOPE)


class Access:
    """Makes the guards of an app's routes: one object for all of them, made from the settings.

    Parameters
    ----------
    identify : callable
        Says who sends a request; raises `Unauthenticated`.
    guard : type
        What the guards are made of.
    scope_prefix : str
        What tokens put before scopes.

    Attributes
    ----------
    open_below : str or None
        Below which path routes let in visitors and pages of all sites (`use_cases.require_or_visit`); None: nowhere.
    rights_of : RightsOf or None
        The lookup of rules about a caller (docs/access.md); None: there are none.
    """

    def __init__(
        self, identify: Identify, *, guard: type[IdentityGuard] = IdentityGuard, scope_prefix: str = ""
    ) -> None:
        self.open_below: str | None = None
        self.rights_of: RightsOf | None = None
        self._identify = identify
        self._guard = guard
        self._scope_prefix = scope_prefix

    def require(self, scope: Scope, *, metadata_path: str | None = None) -> Guard:
        """Return a guard that lets in callers with the scope; its challenges name the metadata at the path, if any."""
        return self._guard(self._identify, scope, self._scope_prefix, metadata_path, lambda: self.rights_of)

    def anyone(self) -> Guard:
        """Return a guard that lets in any caller who can be identified, whatever their scopes."""
        return self._guard(self._identify, None, self._scope_prefix)


async def with_rights(request: Request, caller: Caller, rights_of: RightsOf | None) -> Caller:
    """Return the caller with the rules about it, looked up once for a request. Raises `DatabaseUnavailable`."""
    if rights_of is None or caller.is_operator:
        return caller
    rights: Rights | None = getattr(request.state, "rights", None)
    if rights is None:
        rights = rights_of.known(caller)
        if rights is None:
            rights = await to_thread.run_sync(rights_of, caller)
        request.state.rights = rights
    return caller if rights is caller.rights else replace(caller, rights=rights)


def open_access() -> Access:
    """Return the access of a laptop, where everybody may everything."""
    return Access(lambda _: LAPTOP)


def iam_access(admins: frozenset[Role]) -> Access:
    """Return the access behind API Gateway's IAM authorizer: sessions of `admins` may do everything, others search."""

    def identify(request: Request) -> Caller:
        vouched = _authorizer(request).get("iam")
        if not vouched or not isinstance(vouched, dict):
            raise Unauthenticated("the request carries no verified identity")
        arn = vouched.get("userArn")
        role = role_of(arn)
        # Sessions of a role are one caller: whoever may assume it names them as it likes.
        name = f"{role.account}:{role.name}" if role is not None else arn if isinstance(arn, str) else None
        is_admin = role in admins
        scope = Scope.ADMIN if is_admin else Scope.SEARCH
        roles = frozenset() if role is None else frozenset({role.name})
        return Caller(org_id=None, scopes=frozenset({scope}), name=name, roles=roles)

    return Access(identify, guard=RoleGuard)


def jwt_access(
    rules: TokenRules,
    claims_of: ClaimsOf | None = None,
    *,
    clock: Callable[[], float] = time.time,
) -> Access:
    """Return the access of tokens.

    Parameters
    ----------
    rules : TokenRules
        What their claims must say, checked here or by a gateway.
    claims_of : callable, optional
        Checks a token's signature and returns its claims; without it only a gateway can vouch for a caller.
    clock : callable
        Seconds since 1970.
    """

    def identify(request: Request) -> Caller:
        vouched = _authorizer(request).get("jwt")
        if isinstance(vouched, dict) and isinstance(vouched.get("claims"), dict):
            return replace(rules.caller(vouched["claims"], clock()), is_person=True)
        if claims_of is None:
            raise NoIdentity("the request carries no verified identity")
        return replace(rules.caller(claims_of(_bearer_token(request)), clock()), is_person=True)

    return Access(identify, scope_prefix=rules.scope_prefix)


def _authorizer(request: Request) -> dict[str, Any]:
    """Return what API Gateway's authorizer found; the event comes from Lambda, never from the caller."""
    context = request.scope.get("aws.event", {}).get("requestContext") or {}
    found = context.get("authorizer")
    return found if isinstance(found, dict) else {}


def bearer_token_of(request: Request) -> str | None:
    """Return the bearer token of a request whose caller is identified; None where it came with none."""
    found = _BEARER.fullmatch(request.headers.get("authorization", ""))
    return None if found is None else found[1]


def _bearer_token(request: Request) -> str:
    given = request.headers.getlist("authorization")
    if len(given) > 1:
        raise InvalidToken("the request carries more than one token")
    if not given or given[0].split(" ")[0].lower() != "bearer":
        raise NoIdentity("the request carries no bearer token")
    found = _BEARER.fullmatch(given[0])
    if found is None:
        raise InvalidToken("the token is malformed")
    return found[1]
