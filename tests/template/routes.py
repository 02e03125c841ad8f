"""The routes of the three applications, as their OpenAPI documents and their guards tell them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from skillroute.core.http.app import create_app
from skillroute.core.http.auth import Guard
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

FUNCTIONS = ("Search", "Catalog", "Skills", "Mcp")
OPEN = {
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/mcp",
    "GET /.well-known/mcp/server-card.json",
    "GET /mcp/server-card",
    "GET /oauth/begin",
    "POST /oauth/begin",
    "GET /oauth/callback",
    "POST /oauth/callback",
}
"""The routes that are open where tokens let callers in: they have who issues those, how to connect, and pages for
browsers that log in."""
PAGES = {each for each in OPEN if " /oauth/" in each}
"""Those of them that are for browsers: forms and pages, not JSON."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def key(method: str, path: str) -> str:
    """Return a route without the names of its parameters."""
    return f"{method.upper()} {re.sub('{[a-z_]+}', '{}', path)}"


@cache
def _routers(functions: tuple[str, ...]) -> list[APIRouter]:
    parts = Parts(LocalSettings(database_url="postgresql://u:p@127.0.0.1:1/d"), queue=MemoryQueue())  # type: ignore[arg-type]
    routers = parts.served(*map(str.lower, functions)).routers
    parts.close()
    return routers


@cache
def served(*functions: str) -> set[str]:
    """Return the routes of some functions, of all when none is named."""
    document = create_app(_routers(functions or FUNCTIONS)).openapi()
    found = {key(method, path) for path, methods in document["paths"].items() for method in methods}
    # What the document leaves out.
    of = {"Catalog": PAGES, "Mcp": OPEN - PAGES}
    return found.union(*(of.get(function, set()) for function in functions or FUNCTIONS))


@cache
def scopes_of_routes() -> dict[str, str | None]:
    """Return the scope that each route's guard asks for."""
    scopes = {}
    for router in _routers(FUNCTIONS):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            # What has no guard is open to anybody: `OPEN` names it.
            (scope,) = {each.scope for each in _guards(route.dependant)} or {None}
            for method in route.methods:
                scopes[key(method, route.path)] = None if scope is None else scope.value
    return scopes


def _guards(dependant: Any) -> Iterator[Guard]:
    if isinstance(dependant.call, Guard):
        yield dependant.call
    for each in dependant.dependencies:
        yield from _guards(each)
