"""Who may call: the schemes that let callers in, and the scope that each operation asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from skillroute.core.caller import Scope
from skillroute.core.http.auth import Guard
from starlette.routing import BaseRoute

from skillroute_local.api_document.walk import Json, operations

_MEANING: Mapping[Scope, str] = {
    Scope.SEARCH: "search, and read what searches find",
    Scope.CATALOG: "write and delete tools, servers, agents and mail",
    Scope.SKILLS: "write skills, assign tools to them, and decide about suggestions",
    Scope.ADMIN: "all of these, all mail of the organisation, and, with a token of no organisation, the operator's",
}
_SCOPES = "\n".join(f"- `{scope}`: {meaning}" for scope, meaning in _MEANING.items())

SCHEMES: Json = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A JSON Web Token of the issuer that the deployment trusts (`AuthMode: jwt`). Its claim `scope` "
        f"or `scp` has the scopes, after the deployment's `JwtScopePrefix` where it has one:\n\n{_SCOPES}",
    },
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "x-amazon-apigateway-authtype": "awsSigv4",
        "description": "A request signed with AWS Signature Version 4 (`AuthMode: iam`). Roles of `AdminRoleArns` have "
        "the scope `admin`, all others `search`.",
    },
}


def declare_security(document: Json, routes: Iterable[BaseRoute]) -> None:
    """Say of every operation which scope it asks for. The laptop lets everybody in unless it is started otherwise."""
    scopes = {route.name: _scopes_of(route) for route in routes if isinstance(route, APIRoute)}
    document["components"]["securitySchemes"] = SCHEMES
    for _, operation in operations(document):
        operation["security"] = [{name: scopes[operation["operationId"]]} for name in SCHEMES]


def _scopes_of(route: APIRoute) -> list[str]:
    return sorted({guard.scope.value for guard in _guards(route.dependant) if guard.scope is not None})


def _guards(dependant: Dependant) -> Iterator[Guard]:
    if isinstance(dependant.call, Guard):
        yield dependant.call
    for dependency in dependant.dependencies:
        yield from _guards(dependency)
