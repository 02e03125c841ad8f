"""`/api/v1/mail`: projects, products, agents and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.auth import Access
from skillroute.core.http.body import BulkTextsRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.core.input.text_fields import Text
from skillroute.mail.answers import (
    AcknowledgeRequest,
    MailAgentOut,
    MailProductOut,
    MailProjectOut,
    MessageOut,
    PutMailAgentsBody,
    PutMailResponse,
    PutMessagesBody,
    PutProductsBody,
    PutProjectsBody,
)
from skillroute.mail.model import Importance, MailKind, MessageFilter, agent_key
from skillroute.mail.read import Mail
from skillroute.mail.sync import SyncMail

_MAX_ID = 2**63 - 1
ProjectFilter = Annotated[int | None, Query(ge=1, le=_MAX_ID, description="The id of a project.")]
KeyFilter = Annotated[Text | None, Query(max_length=128, description="The writer's own id.")]
NameFilter = Annotated[Text | None, Query(max_length=256, description="The name of an agent, in any case.")]
ThreadFilter = Annotated[Text | None, Query(max_length=256)]


_NOUNS: Mapping[MailKind, str] = {
    "project": "a project",
    "product": "a product",
    "agent": "a mail agent",
    "message": "a message",
}
_DELETING: Mapping[MailKind, str] = {
    "project": "Delete a project that no message is in. Without scope admin only its only member may.",
    "product": "Delete a product. Its projects stay, with their messages. Without scope admin it stays, with the "
    "projects that the caller may not look at, if it has any.",
    "agent": "Delete a mail agent that no message refers to. Without scope admin only the token's own.",
    "message": "Delete a message, with who has acknowledged it. Without scope admin only its sender may.",
}


def mail_routers(sync: SyncMail, mail: Mail, access: Access) -> list[APIRouter]:
    """Return the routes over agent mail.

    Reading shows what the caller may look at: all mail of its organisation with scope admin, else that of the projects
    of the agent that its token names.
    """
    return [
        _project_router(sync, mail, access),
        _product_router(sync, mail, access),
        _agent_router(sync, mail, access),
        _message_router(sync, mail, access),
    ]


def _router(kind: MailKind) -> APIRouter:
    prefix = f"/api/v1/mail/{kind}s"
    return APIRouter(prefix=prefix, tags=["mail"], route_class=BulkTextsRoute, responses=ERRORS)


def _project_router(sync: SyncMail, mail: Mail, access: Access) -> APIRouter:
    router = _router("project")
    writer, reader = _callers(access)

    @router.put("", summary="Create or change up to 100 projects")
    def put_mail_projects(body: PutProjectsBody, caller: Caller = writer, dry_run: DryRun = False) -> PutMailResponse:
        """Write projects; each is judged on its own, and the answer says what became of it.

        A project is the same one when organisation and key are. Unchanged ones are left alone. Anyone who makes one,
        and is no operator, belongs to it from then on.
        """
        return PutMailResponse.of(sync("project", body.projects, caller, dry_run=dry_run))

    @router.get("", response_model=list[MailProjectOut], summary="List projects", responses=PAGE_DOC)
    def list_mail_projects(page: Page, key: KeyFilter = None, caller: Caller = reader) -> Response:
        """Return a page of projects by key."""
        found, total = mail.projects(caller, key=key, limit=page.limit, offset=page.offset)
        return page.response(map(MailProjectOut.of, found), total)

    _add_one(router, "project", MailProjectOut.of, MailProjectOut, mail, access)
    return router


def _product_router(sync: SyncMail, mail: Mail, access: Access) -> APIRouter:
    router = _router("product")
    writer, reader = _callers(access)

    @router.put("", summary="Create or change up to 100 products")
    def put_mail_products(body: PutProductsBody, caller: Caller = writer, dry_run: DryRun = False) -> PutMailResponse:
        """Write products with the keys of their projects, of the organisation or global; each is judged on its own.

        A product is the same one when organisation and key are. The projects given become its projects.
        """
        return PutMailResponse.of(sync("product", body.products, caller, dry_run=dry_run))

    @router.get("", response_model=list[MailProductOut], summary="List products", responses=PAGE_DOC)
    def list_mail_products(page: Page, key: KeyFilter = None, caller: Caller = reader) -> Response:
        """Return a page of products by key."""
        found, total = mail.products(caller, key=key, limit=page.limit, offset=page.offset)
        return page.response(map(MailProductOut.of, found), total)

    _add_one(router, "product", MailProductOut.of, MailProductOut, mail, access)
    return router


def _agent_router(sync: SyncMail, mail: Mail, access: Access) -> APIRouter:
    router = _router("agent")
    writer, reader = _callers(access)

    @router.put("", summary="Create or change up to 100 mail agents")
    def put_mail_agents(body: PutMailAgentsBody, caller: Caller = writer, dry_run: DryRun = False) -> PutMailResponse:
        """Write agents with the keys of their projects, of the organisation or global; each is judged on its own.

        Names that differ in case only are one agent; the last spelling is shown everywhere. The projects given become
        its projects. Without scope admin only the token's own agent is written so: another one is brought into the
        projects given, stays in all others, and takes no description or contact.
        """
        return PutMailResponse.of(sync("agent", body.agents, caller, dry_run=dry_run))

    @router.get("", response_model=list[MailAgentOut], summary="List mail agents", responses=PAGE_DOC)
    def list_mail_agents(
        page: Page,
        name: NameFilter = None,
        project_id: ProjectFilter = None,
        caller: Caller = reader,
    ) -> Response:
        """Return a page of agents by name; all conditions must hold."""
        found, total = mail.agents(caller, name=name, project_id=project_id, limit=page.limit, offset=page.offset)
        return page.response(map(MailAgentOut.of, found), total)

    _add_one(router, "agent", MailAgentOut.of, MailAgentOut, mail, access)
    return router


def _message_router(sync: SyncMail, mail: Mail, access: Access) -> APIRouter:
    router = _router("message")
    writer, reader = _callers(access)
    one = _id_of("message")

    @router.put("", summary="Create or change up to 500 messages")
    def put_mail_messages(body: PutMessagesBody, caller: Caller = writer, dry_run: DryRun = False) -> PutMailResponse:
        """Write messages into projects of the organisation that the caller may see; each is judged on its own.

        A message is the same one when organisation and key are: writing it twice changes nothing. Agents that are not
        known yet are made. Without scope admin a message is from the agent that the token names, and changed by its
        sender only. Secrets are stored with the message, and never searched or embedded.
        """
        return PutMailResponse.of(sync("message", body.messages, caller, dry_run=dry_run))

    @router.get("", response_model=list[MessageOut], summary="List messages", responses=PAGE_DOC)
    def list_mail_messages(
        page: Page,
        key: KeyFilter = None,
        project_id: ProjectFilter = None,
        thread_id: ThreadFilter = None,
        sender: NameFilter = None,
        recipient: NameFilter = None,
        importance: Importance | None = None,
        ack_required: bool | None = None,
        caller: Caller = reader,
    ) -> Response:
        """Return a page of messages, the newest first; all conditions must hold. A recipient is in to, cc or bcc."""
        where = MessageFilter(
            project_id=project_id,
            thread_id=thread_id,
            sender=None if sender is None else agent_key(sender),
            recipient=None if recipient is None else agent_key(recipient),
            importance=importance,
            ack_required=ack_required,
            key=key,
        )
        found, total = mail.messages(where, caller, limit=page.limit, offset=page.offset)
        return page.response(map(MessageOut.of, found), total)

    @router.post("/{message_id}/acknowledge", summary="Acknowledge a message", responses=NOT_FOUND)
    def acknowledge_mail_message(
        body: AcknowledgeRequest, message_id: int = one, caller: Caller = writer
    ) -> MessageOut:
        """Note that an agent that the message was sent to has taken note of it; the first time counts.

        Without scope admin it is the agent that the token names.
        """
        return MessageOut.of(mail.acknowledge(message_id, body.agent, caller))

    _add_one(router, "message", MessageOut.of, MessageOut, mail, access)
    return router


def _add_one(
    router: APIRouter,
    kind: MailKind,
    of: Callable[[Any], BaseModel],
    answer: type[BaseModel],
    mail: Mail,
    access: Access,
) -> None:
    """Add the routes of one thing of a kind, which are alike for all kinds."""
    writer, reader = _callers(access)
    one, noun = _id_of(kind), _NOUNS[kind]
    path = f"/{{{kind}_id}}"

    @router.get(path, response_model=answer, summary=f"Get {noun}", responses=NOT_FOUND, name=f"get_mail_{kind}")
    def get_one(id_: int = one, caller: Caller = reader) -> BaseModel:
        """Return one that the caller may look at."""
        return of(mail.get(kind, id_, caller))

    @router.delete(
        path,
        status_code=204,
        summary=f"Delete {noun}",
        description=_DELETING[kind],
        responses=NOT_FOUND | CONFLICT if kind in {"project", "agent"} else NOT_FOUND,
        name=f"delete_mail_{kind}",
    )
    def delete_one(id_: int = one, caller: Caller = writer) -> None:
        mail.delete(kind, id_, caller)


def _callers(access: Access) -> tuple[Any, Any]:
    """Return the dependencies that stand for a caller who writes and for one who reads."""
    return Depends(access.require(Scope.CATALOG)), Depends(access.require(Scope.SEARCH))


def _id_of(kind: MailKind) -> Any:
    return Path(ge=1, le=_MAX_ID, alias=f"{kind}_id", description=f"The {kind}'s id.")
