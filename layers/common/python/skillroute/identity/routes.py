"""`/api/v1/servers/{id}/identity`, logins of persons, and the page that their browsers come back to."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.form import read_form
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.core.http.protected_resource import url_of
from skillroute.core.http.use_cases import given, require
from skillroute.identity.answers import IdentityOut, IdentityRequest, LoginOut, LoginRequest, LoginStarted
from skillroute.identity.links import LINK_PATH, UNKNOWN_LINK, LoginLinks
from skillroute.identity.logins import Finished, Logins
from skillroute.identity.manage import ManageIdentities
from skillroute.identity.model import Pending
from skillroute.identity.page import FORM_HEADERS, HEADERS, invitation, onward, page, question

CALLBACK_PATH = "/oauth/callback"

NO_LOGIN = "This address is only for coming back from a login."

_MAX_CHARS = 8192

ServerId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The server's id.")]
AsWriter = Annotated[Caller, Depends(require(Scope.CATALOG))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Manage = Annotated[ManageIdentities, given(ManageIdentities)]
Own = Annotated[Logins, given(Logins)]
Links = Annotated[LoginLinks, given(LoginLinks)]
Sent = Annotated[str | None, Query()]

router = APIRouter(prefix="/api/v1", tags=["identity"], route_class=SafeJsonRoute, responses=ERRORS)
open_router = APIRouter(include_in_schema=False)


@router.get("/servers/{server_id}/identity", summary="Show how a server lets requests in", responses=NOT_FOUND)
def get_identity(server_id: ServerId, caller: AsWriter, manage: Manage) -> IdentityOut:
    """Return the kind of a server's identity with its settings: where a secret is, never what it is."""
    return IdentityOut.of(manage.get(server_id, caller))


@router.put(
    "/servers/{server_id}/identity", summary="Set how a server lets requests in", responses=NOT_FOUND | CONFLICT
)
def put_identity(server_id: ServerId, body: IdentityRequest, caller: AsWriter, manage: Manage) -> IdentityOut:
    """Set how requests to a server are let in; those of global servers, and kind `caller_token`, take scope `admin`.

    It is for the server's present address. What persons logged in with ends where the setting changes.
    """
    return IdentityOut.of(manage.put(server_id, caller, body.kind, body.settings()))


@router.delete(
    "/servers/{server_id}/identity",
    status_code=204,
    summary="Delete how a server lets requests in",
    responses=NOT_FOUND,
)
def delete_identity(server_id: ServerId, caller: AsWriter, manage: Manage) -> None:
    """Let requests to a server go without an identity. Logins at it end."""
    manage.delete(server_id, caller)


@router.post("/servers/{server_id}/login", summary="Begin to log in at a server", responses=NOT_FOUND | CONFLICT)
def create_login(
    server_id: ServerId, caller: AsReader, logins: Own, request: Request, body: LoginRequest | None = None
) -> LoginStarted:
    """Return the page where the caller logs in at a server of kind `oauth`, within 10 minutes and once.

    The login is the caller's alone, also where others use the server. The caller opens the page, and does not pass it
    on.
    """
    scopes = [] if body is None else body.scopes
    begun = logins.begin(server_id, caller, url_of(request, CALLBACK_PATH), scopes)
    return LoginStarted(authorization_url=begun.url, expires_at=begun.expires_at)


@router.get("/logins", response_model=list[LoginOut], summary="List one's own logins", responses=PAGE_DOC)
def list_logins(caller: AsReader, logins: Own, paging: Page) -> Response:
    """Return a page of the servers where the caller is logged in. Tokens are never shown."""
    rows, total = logins.list(caller, limit=paging.limit, offset=paging.offset)
    return paging.response(map(LoginOut.of, rows), total)


@router.delete("/logins/{server_id}", status_code=204, summary="Log out of a server", responses=NOT_FOUND)
def delete_login(server_id: ServerId, caller: AsReader, logins: Own) -> None:
    """Delete what the caller logged in with, and have it taken back where the authorization server does so."""
    logins.end(server_id, caller)


@open_router.get(CALLBACK_PATH)
def ask_about_login(
    logins: Own, state: Sent = None, code: Sent = None, iss: Sent = None, error: Sent = None
) -> HTMLResponse:
    """Ask who came back from a login whether it is theirs. The state stays good: nothing is finished by a GET."""
    if not state or _is_too_long(state, code, iss, error):
        return _said(Finished(False, NO_LOGIN))
    found = logins.look(state, code, iss, error)
    if isinstance(found, Finished):
        return _said(found)
    return _asked(found, state, code, iss)


@open_router.post(CALLBACK_PATH)
def finish_login(request: Request, logins: Own, form: Annotated[dict[str, str], Depends(read_form)]) -> HTMLResponse:
    """Finish a login, or end it, as the person in front of the browser wants. The state is good once."""
    state, code, iss = (form.get(name) for name in ("state", "code", "iss"))
    if not state or not code or not _is_ours(request) or _is_too_long(state, code, iss):
        return _said(Finished(False, NO_LOGIN))
    answer = form.get("answer")
    if answer == "refuse":
        return _said(logins.refuse(state))
    if answer == "allow" and form.get("mine") == "yes":
        return _said(logins.finish(state, code, iss, None))
    found = logins.look(state, code, iss, None)
    return _said(found) if isinstance(found, Finished) else _asked(found, state, code, iss)


@open_router.get(LINK_PATH)
def show_login_link(links: Links, ticket: Sent = None) -> HTMLResponse:
    """Show whom a link is for. It stays good: what looks at links ahead uses none up."""
    if not ticket or _is_too_long(ticket):
        return _said(Finished(False, UNKNOWN_LINK))
    found = links.look(ticket)
    if isinstance(found, Finished):
        return _said(found)
    return HTMLResponse(invitation(found, LINK_PATH, ticket), headers=FORM_HEADERS)


@open_router.post(LINK_PATH)
def follow_login_link(
    request: Request, links: Links, logins: Own, form: Annotated[dict[str, str], Depends(read_form)]
) -> HTMLResponse:
    """Begin the login that a link is for, and lead on to its authorization server. The ticket is good once."""
    ticket = form.get("ticket")
    if not ticket or not _is_ours(request) or _is_too_long(ticket):
        return _said(Finished(False, UNKNOWN_LINK))
    begun = links.begin(ticket, logins, url_of(request, CALLBACK_PATH))
    return _said(begun) if isinstance(begun, Finished) else HTMLResponse(onward(begun.url), headers=HEADERS)


def _is_ours(request: Request) -> bool:
    # Older browsers do not send the header; a page of another site knows neither ticket nor code.
    return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _is_too_long(*sent: str | None) -> bool:
    return any(len(each) > _MAX_CHARS for each in sent if each is not None)


def _said(done: Finished) -> HTMLResponse:
    title = "Logged in" if done.is_done else "Not logged in"
    return HTMLResponse(page(title, done.sentence), 200 if done.is_done else 400, headers=HEADERS)


def _asked(pending: Pending, state: str, code: str | None, iss: str | None) -> HTMLResponse:
    sent = {"state": state, "code": code, "iss": iss}
    return HTMLResponse(question(pending, CALLBACK_PATH, sent), headers=FORM_HEADERS)
