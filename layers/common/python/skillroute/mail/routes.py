"""`/api/v1/mail`: projects, products, agents and messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import BulkTextsRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.core.http.use_cases import given, require
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
from skillroute.mail.model import Importance, MessageFilter, agent_key
from skillroute.mail.read import Mail
from skillroute.mail.sync import SyncMail

_MAX_ID = 2**63 - 1
ProjectFilter = Annotated[int | None, Query(ge=1, le=_MAX_ID, description="The id of a project.")]
KeyFilter = Annotated[Text | None, Query(max_length=128, description="The writer's own id.")]
NameFilter = Annotated[Text | None, Query(max_length=256, description="The name of an agent, in any case.")]
ThreadFilter = Annotated[Text | None, Query(max_length=256)]
ProjectId = Annotated[int, Path(ge=1, le=_MAX_ID, description="The project's id.")]
ProductId = Annotated[int, Path(ge=1, le=_MAX_ID, description="The product's id.")]
AgentId = Annotated[int, Path(ge=1, le=_MAX_ID, description="The agent's id.")]
MessageId = Annotated[int, Path(ge=1, le=_MAX_ID, description="The message's id.")]

# Reading shows what the caller may look at: all mail of its organisation with scope admin, else that of the projects of
# the agent that its token names.
router = APIRouter(prefix="/api/v1/mail", tags=["mail"], route_class=BulkTextsRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.CATALOG))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Sync = Annotated[SyncMail, given(SyncMail)]
GivenMail = Annotated[Mail, given(Mail)]


@router.put("/projects", summary="Create or change up to 100 projects")
def put_mail_projects(body: PutProjectsBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False) -> PutMailResponse:
    """Write projects; each is judged on its own, and the answer says what became of it.

    A project is the same one when organisation and key are. Unchanged ones are left alone. Anyone who makes one,
    and is no operator, belongs to it from then on.
    """
    return PutMailResponse.of(sync("project", body.projects, caller, dry_run=dry_run))


@router.get("/projects", response_model=list[MailProjectOut], summary="List projects", responses=PAGE_DOC)
def list_mail_projects(caller: AsReader, mail: GivenMail, page: Page, key: KeyFilter = None) -> Response:
    """Return a page of projects by key."""
    found, total = mail.projects(caller, key=key, limit=page.limit, offset=page.offset)
    return page.response(map(MailProjectOut.of, found), total)


@router.get("/projects/{project_id}", summary="Get a project", responses=NOT_FOUND)
def get_mail_project(project_id: ProjectId, caller: AsReader, mail: GivenMail) -> MailProjectOut:
    """Return one that the caller may look at."""
    return MailProjectOut.of(mail.get("project", project_id, caller))


@router.delete("/projects/{project_id}", status_code=204, summary="Delete a project", responses=NOT_FOUND | CONFLICT)
def delete_mail_project(project_id: ProjectId, caller: AsWriter, mail: GivenMail) -> None:
    """Delete a project that no message is in. Without scope admin only its only member may."""
    mail.delete("project", project_id, caller)


@router.put("/products", summary="Create or change up to 100 products")
def put_mail_products(body: PutProductsBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False) -> PutMailResponse:
    """Write products with the keys of their projects, of the organisation or global; each is judged on its own.

    A product is the same one when organisation and key are. The projects given become its projects.
    """
    return PutMailResponse.of(sync("product", body.products, caller, dry_run=dry_run))


@router.get("/products", response_model=list[MailProductOut], summary="List products", responses=PAGE_DOC)
def list_mail_products(caller: AsReader, mail: GivenMail, page: Page, key: KeyFilter = None) -> Response:
    """Return a page of products by key."""
    found, total = mail.products(caller, key=key, limit=page.limit, offset=page.offset)
    return page.response(map(MailProductOut.of, found), total)


@router.get("/products/{product_id}", summary="Get a product", responses=NOT_FOUND)
def get_mail_product(product_id: ProductId, caller: AsReader, mail: GivenMail) -> MailProductOut:
    """Return one that the caller may look at."""
    return MailProductOut.of(mail.get("product", product_id, caller))


@router.delete(
    "/products/{product_id}",
    status_code=204,
    summary="Delete a product",
    description="Delete a product. Its projects stay, with their messages. Without scope admin it stays, with the "
    "projects that the caller may not look at, if it has any.",
    responses=NOT_FOUND,
)
def delete_mail_product(product_id: ProductId, caller: AsWriter, mail: GivenMail) -> None:
    """Delete a product; its projects and their messages stay."""
    mail.delete("product", product_id, caller)


@router.put("/agents", summary="Create or change up to 100 mail agents")
def put_mail_agents(body: PutMailAgentsBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False) -> PutMailResponse:
    """Write agents with the keys of their projects, of the organisation or global; each is judged on its own.

    Names that differ in case only are one agent; the last spelling is shown everywhere. The projects given become
    its projects. Without scope admin only the token's own agent is written so: another one is brought into the
    projects given, stays in all others, and takes no description or contact.
    """
    return PutMailResponse.of(sync("agent", body.agents, caller, dry_run=dry_run))


@router.get("/agents", response_model=list[MailAgentOut], summary="List mail agents", responses=PAGE_DOC)
def list_mail_agents(
    caller: AsReader, mail: GivenMail, page: Page, name: NameFilter = None, project_id: ProjectFilter = None
) -> Response:
    """Return a page of agents by name; all conditions must hold."""
    found, total = mail.agents(caller, name=name, project_id=project_id, limit=page.limit, offset=page.offset)
    return page.response(map(MailAgentOut.of, found), total)


@router.get("/agents/{agent_id}", summary="Get a mail agent", responses=NOT_FOUND)
def get_mail_agent(agent_id: AgentId, caller: AsReader, mail: GivenMail) -> MailAgentOut:
    """Return one that the caller may look at."""
    return MailAgentOut.of(mail.get("agent", agent_id, caller))


@router.delete("/agents/{agent_id}", status_code=204, summary="Delete a mail agent", responses=NOT_FOUND | CONFLICT)
def delete_mail_agent(agent_id: AgentId, caller: AsWriter, mail: GivenMail) -> None:
    """Delete a mail agent that no message refers to. Without scope admin only the token's own."""
    mail.delete("agent", agent_id, caller)


@router.put("/messages", summary="Create or change up to 500 messages")
def put_mail_messages(body: PutMessagesBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False) -> PutMailResponse:
    """Write messages into projects of the organisation that the caller may see; each is judged on its own.

    A message is the same one when organisation and key are: writing it twice changes nothing. Agents that are not
    known yet are made. Without scope admin a message is from the agent that the token names, and changed by its
    sender only. Secrets are stored with the message, and never searched or embedded.
    """
    return PutMailResponse.of(sync("message", body.messages, caller, dry_run=dry_run))


@router.get("/messages", response_model=list[MessageOut], summary="List messages", responses=PAGE_DOC)
def list_mail_messages(
    caller: AsReader,
    mail: GivenMail,
    page: Page,
    key: KeyFilter = None,
    project_id: ProjectFilter = None,
    thread_id: ThreadFilter = None,
    sender: NameFilter = None,
    recipient: NameFilter = None,
    importance: Importance | None = None,
    ack_required: bool | None = None,
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


@router.post("/messages/{message_id}/acknowledge", summary="Acknowledge a message", responses=NOT_FOUND)
def acknowledge_mail_message(
    body: AcknowledgeRequest, message_id: MessageId, caller: AsWriter, mail: GivenMail
) -> MessageOut:
    """Note that an agent that the message was sent to has taken note of it; the first time counts.

    Without scope admin it is the agent that the token names.
    """
    return MessageOut.of(mail.acknowledge(message_id, body.agent, caller))


@router.get("/messages/{message_id}", summary="Get a message", responses=NOT_FOUND)
def get_mail_message(message_id: MessageId, caller: AsReader, mail: GivenMail) -> MessageOut:
    """Return one that the caller may look at."""
    return MessageOut.of(mail.get("message", message_id, caller))


@router.delete("/messages/{message_id}", status_code=204, summary="Delete a message", responses=NOT_FOUND)
def delete_mail_message(message_id: MessageId, caller: AsWriter, mail: GivenMail) -> None:
    """Delete a message, with who has acknowledged it. Without scope admin only its sender may."""
    mail.delete("message", message_id, caller)
