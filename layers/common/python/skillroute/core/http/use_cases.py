"""Use cases of an app, by type, and the access rule of its routes.

So a slice's router is one of its module, and the app that includes it says what stands behind it.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from fastapi import Depends
from starlette.requests import Request

from skillroute.core.caller import VISITOR, Caller, Scope
from skillroute.core.errors.model import Unauthenticated
from skillroute.core.http.auth import Access, Guard, with_rights
from skillroute.core.http.challenge import InvalidToken

T = TypeVar("T")


def use_case(request: Request, type_: type[T]) -> T:
    """Return what the request's app was given of a type. Raises `KeyError` where it was given none."""
    return cast("T", request.app.state.use_cases[type_])


def given(type_: type[Any]) -> Any:
    """Return the dependency on what the app was given of a type."""

    async def find(request: Request) -> Any:
        return use_case(request, type_)

    return Depends(find)


class _ScopeGuard(Guard):
    """The guard of a scope, or of none, that the access of the request's app makes."""

    async def __call__(self, request: Request) -> Caller:
        access = use_case(request, Access)
        return await (access.anyone() if self.scope is None else access.require(self.scope))(request)


def require(scope: Scope) -> Guard:
    """Return the dependency on a caller with a scope."""
    return _ScopeGuard(scope)


class _VisitorGuard(_ScopeGuard):
    """The guard of a scope that lets in visitors, too, where the app's access does."""

    async def __call__(self, request: Request) -> Caller:
        try:
            return await super().__call__(request)
        except InvalidToken:
            # One whose token has expired is not to take what visitors see for all that there is.
            raise
        except Unauthenticated:
            access = use_case(request, Access)
            if access.open_below is None:
                raise
            request.state.caller = VISITOR
            return await with_rights(request, VISITOR, access.rights_of)


def require_or_visit(scope: Scope) -> Guard:
    """Return the dependency on a caller with a scope, or on a visitor where the deployment is open to them."""
    return _VisitorGuard(scope)


def anyone() -> Guard:
    """Return the dependency on a caller who can be identified, whatever their scopes."""
    return _ScopeGuard(None)
