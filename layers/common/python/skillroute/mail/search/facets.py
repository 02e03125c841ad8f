"""A request's filters, made ready for both engines (message-search, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.core.documents.model import IndexFilter
from skillroute.mail.model import agent_key
from skillroute.mail.search.model import MailFilter, MessageSearchRequest


@dataclass(frozen=True, slots=True)
class Facets:
    """The filters of a request that count.

    Attributes
    ----------
    applied : tuple of str
        Their names, in the order of the contract's table.
    where : MailFilter
        What they ask for, but for projects: those depend on what the caller may see.
    project_id, product_id : int or None
        At most one of them.
    contradict : bool
        Nothing can pass: two of them ask for another sender.
    """

    applied: tuple[str, ...]
    where: MailFilter
    project_id: int | None
    product_id: int | None
    contradict: bool


def facets(request: MessageSearchRequest, org_id: str | None) -> Facets:
    """Return the filters of a request; those of messages count for messages only."""
    product_id = request.product_id if request.project_id is None else None
    where, contradict = MailFilter(request.doc_kind, org_id), False
    if request.doc_kind == "message":
        where, contradict = _of_messages(request, org_id)
    applied = (*_names(project_id=request.project_id, product_id=product_id), *_of_message_names(request))
    return Facets(applied, where, request.project_id, product_id, contradict)


def _of_messages(request: MessageSearchRequest, org_id: str | None) -> tuple[MailFilter, bool]:
    agent = _key(request.agent_name)
    outbox = agent if request.direction == "outbox" else None
    senders = {key for key in (outbox, _key(request.sender_name)) if key is not None}
    span = request.time_range
    where = MailFilter(
        "message",
        org_id,
        importance=tuple(dict.fromkeys(request.importance)),
        sender=min(senders, default=None),
        recipient=_key(request.recipient_name),
        inbox=agent if request.direction == "inbox" else None,
        party=agent if request.direction is None else None,
        thread_id=request.thread_id,
        ack_required=request.ack_required,
        min_ts=span.min_ts if span else None,
        max_ts=span.max_ts if span else None,
    )
    return where, len(senders) > 1


def _of_message_names(request: MessageSearchRequest) -> tuple[str, ...]:
    if request.doc_kind != "message":
        return ()
    span = request.time_range
    return _names(
        importance=request.importance or None,
        direction=request.direction if request.agent_name is not None else None,
        agent_name=request.agent_name,
        sender_name=request.sender_name,
        recipient_name=request.recipient_name,
        thread_id=request.thread_id,
        ack_required=request.ack_required,
        time_range=None if span is None or (span.min_ts is None and span.max_ts is None) else span,
    )


def _names(**values: object) -> tuple[str, ...]:
    return tuple(name for name, value in values.items() if value is not None)


def _key(name: str | None) -> str | None:
    return None if name is None else agent_key(name)


def index_filter(where: MailFilter) -> IndexFilter:
    """Return the same conditions for the vector index."""
    any_of: dict[str, Sequence[str]] = {
        "kind": [where.kind],
        "org_id": [""] if where.org_id is None else ["", where.org_id],
    }
    if where.project_ids is not None:
        any_of["project_ids"] = [str(project_id) for project_id in where.project_ids]
    if where.importance:
        any_of["importance"] = where.importance
    single = {"sender": where.sender, "parties": where.party, "thread_id": where.thread_id}
    any_of |= {name: [value] for name, value in single.items() if value is not None}
    if where.ack_required is not None:
        any_of["ack_required"] = ["true" if where.ack_required else "false"]
    timed = where.min_ts is not None or where.max_ts is not None
    return IndexFilter(
        any_of=any_of,
        all_of={"recipients": where.recipients} if where.recipients else {},
        between={"created_ts": (where.min_ts, where.max_ts)} if timed else {},
    )
