"""Pages of projects, products, agents and messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.postgres.database import Session
from skillroute.mail.model import (
    MailAgent,
    Message,
    MessageFilter,
    Product,
    Project,
    StoredAgent,
    StoredMessage,
    StoredProduct,
    StoredProject,
)


class MailLists:
    """Lists the rows of mail that a caller may look at."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def projects(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        key: str | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredProject], int]:
        """Return a page of those that pass by key, and how many there are in all."""
        rows, total = self._page("list_projects", limit, offset, id=id_, key=key, **_seen(org_id, allowed))
        return [
            StoredProject(id_, owner, Project(key, name, description), created_at, updated_at)
            for id_, owner, key, name, description, created_at, updated_at in rows
        ], total

    def products(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        key: str | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredProduct], int]:
        """Return a page by key, and how many there are in all. With `allowed`, those with a project that is."""
        rows, total = self._page("list_products", limit, offset, id=id_, key=key, **_seen(org_id, allowed))
        return [
            StoredProduct(
                id_, owner, Product(key, name, description, tuple(keys)), tuple(project_ids), created_at, updated_at
            )
            for id_, owner, key, name, description, created_at, updated_at, project_ids, keys in rows
        ], total

    def agents(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        name_key: str | None = None,
        project_id: int | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredAgent], int]:
        """Return a page by name, and how many there are in all. With `allowed`, those of a project that is."""
        rows, total = self._page(
            "list_agents",
            limit,
            offset,
            id=id_,
            name_key=name_key,
            project_id=project_id,
            **_seen(org_id, allowed),
        )
        return [
            StoredAgent(
                id_,
                owner,
                MailAgent(name, description, contact, tuple(keys)),
                tuple(project_ids),
                created_at,
                updated_at,
            )
            for id_, owner, name, description, contact, created_at, updated_at, project_ids, keys in rows
        ], total

    def messages(
        self,
        where: MessageFilter,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredMessage], int]:
        """Return a page, the newest first, and how many there are in all."""
        conditions: dict[str, object] = {
            "key": where.key,
            "project_id": where.project_id,
            "thread_id": where.thread_id,
            "sender": where.sender,
            "recipient": where.recipient,
            "importance": where.importance,
            "ack_required": where.ack_required,
            **_seen(org_id, allowed),
        }
        rows = self._run("list_messages", id=id_, limit=limit, offset=offset, max_bytes=PAGE_BYTES, **conditions)
        total: int = len(rows) if id_ is not None else self._run("count_messages", **conditions)[0][0]
        return [_to_message(row) for row in rows], total

    def _page(self, statement: str, limit: int, offset: int, **conditions: object) -> tuple[list[list[Any]], int]:
        """Return a page's rows without the total that each of them ends with, and the total."""
        rows = self._run(statement, limit=limit, offset=offset, max_bytes=PAGE_BYTES, **conditions)
        # Beyond the end no row says how many there are.
        some = rows or (self._run(statement, limit=1, offset=0, max_bytes=0, **conditions) if offset else [])
        return [row[:-1] for row in rows], some[0][-1] if some else 0


def _seen(org_id: str | None, allowed: Sequence[int] | None) -> dict[str, object]:
    return {"org_id": org_id, "allowed": None if allowed is None else list(allowed)}


def _to_message(row: list[Any]) -> StoredMessage:
    (id_, org_id, project_id, key, project_key, sender, subject, body, created_ts, thread_id, importance, ack_required,
     is_embedded, updated_at, recipients) = row  # fmt: skip
    by_role: dict[str, list[str]] = {"to": [], "cc": [], "bcc": []}
    acknowledged = {}
    for role, name, acknowledged_at in recipients or ():
        by_role[role].append(name)
        if acknowledged_at is not None:
            acknowledged[name] = datetime.fromisoformat(acknowledged_at)
    content = Message(
        key=key,
        project=project_key,
        sender=sender,
        to=tuple(by_role["to"]),
        cc=tuple(by_role["cc"]),
        bcc=tuple(by_role["bcc"]),
        subject=subject,
        body=body,
        created_ts=created_ts,
        thread_id=thread_id,
        importance=importance,
        ack_required=ack_required,
    )
    return StoredMessage(id_, org_id, project_id, content, acknowledged, is_embedded, updated_at)
