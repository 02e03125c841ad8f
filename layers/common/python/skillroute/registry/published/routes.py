"""`/v0.1/servers`: the registry by the API of MCP registries, which editors and agents read as a private registry."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Response

from skillroute.core.caller import VISITOR, Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import ERRORS, NOT_FOUND
from skillroute.core.http.errors import problem
from skillroute.core.http.listing import UpdatedSince
from skillroute.core.http.use_cases import given, require_or_visit
from skillroute.core.http.versions import VERSIONED, tell_version
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor, InvalidCursor
from skillroute.registry.published.model import PublishedServer, PublishedServers
from skillroute.registry.published.read import PublishedRegistry, Wanted

_SORT = "name"
_MAX_AGE_S = 60
_MAX_LIMIT = 100


class _ForeignRoute(SafeJsonRoute):
    """A route whose callers go by another document than ours, and by later revisions of it."""

    ignores_unknown_query = True


router = APIRouter(prefix="/v0.1", tags=["registry"], route_class=_ForeignRoute, responses=ERRORS)

AsVisitor = Annotated[Caller, Depends(require_or_visit(Scope.SEARCH))]
Published = Annotated[PublishedRegistry, given(PublishedRegistry)]
ServerName = Annotated[
    Text, Path(max_length=200, description="The name, such as `io.github.acme/docs`, its slash as `%2F` or as it is.")
]
WithDeleted = Annotated[bool, Query(description="Show disabled servers, too, with the status `deleted`.")]


@router.get("/servers", response_model=PublishedServers, summary="List servers as an MCP registry", responses=VERSIONED)
def list_published_servers(
    caller: AsVisitor,
    registry: Published,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT, description="How many at most.")] = 30,
    cursor: Annotated[str | None, Query(max_length=2000, description="`nextCursor` of the page before.")] = None,
    search: Annotated[Text | None, Query(max_length=256, description="A part of the name or title, any case.")] = None,
    version: Annotated[Text | None, Query(max_length=255, description="A version, or `latest`.")] = None,
    updated_since: UpdatedSince = None,
    include_deleted: WithDeleted = False,
) -> Response:
    """Return a page of enabled servers by name, of one name the newest version first.

    With `updated_since` disabled servers are shown with the status `deleted`, so that a copy learns of them.
    """
    wanted = Wanted(search or None, version or None, updated_since, include_deleted)
    after = _place(cursor) if cursor else None
    page = registry.page(wanted, caller, limit=limit, after=after)
    metadata: dict[str, Any] = {"count": len(page.servers)}
    if page.last is not None:
        metadata["nextCursor"] = Cursor(_SORT, page.last.version, page.last.name).encoded()
    return _answer({"servers": page.servers, "metadata": metadata}, caller)


@router.get(
    "/servers/{server_name:path}/versions",
    response_model=PublishedServers,
    summary="List the versions of a server",
    responses=VERSIONED | NOT_FOUND,
)
def list_published_versions(
    server_name: ServerName, caller: AsVisitor, registry: Published, include_deleted: WithDeleted = False
) -> Response:
    """Return all versions of a server, the newest first."""
    servers = registry.versions(server_name, caller, with_disabled=include_deleted)
    return _answer({"servers": servers, "metadata": {"count": len(servers)}}, caller)


@router.get(
    "/servers/{server_name:path}/versions/{version}",
    response_model=PublishedServer,
    summary="Get a version of a server",
    responses=VERSIONED | NOT_FOUND,
)
def get_published_version(
    server_name: ServerName,
    version: Annotated[Text, Path(max_length=255, description="A version, or `latest`.")],
    caller: AsVisitor,
    registry: Published,
    include_deleted: WithDeleted = False,
) -> Response:
    """Return a version of a server as its `server.json`, and what the registry has of it."""
    return _answer(registry.version(server_name, version, caller, with_disabled=include_deleted), caller)


def _place(cursor: str) -> tuple[str, str]:
    try:
        found = Cursor.decoded(cursor, _SORT, str)
    except InvalidCursor as error:
        raise HTTPException(422, [problem(["query", "cursor"], str(error))]) from None
    return str(found.value), str(found.id)


def _answer(answer: dict[str, Any], caller: Caller) -> Response:
    body = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    # Caches that others read from get what visitors see alone: who shows a token may see more, or be the only one to.
    kind = "public" if caller is VISITOR else "private"
    headers = {"Cache-Control": f"{kind}, max-age={_MAX_AGE_S}", "Vary": "Authorization"}
    response = Response(body, media_type="application/json", headers=headers)
    tell_version(response, "servers")
    return response
