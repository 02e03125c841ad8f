"""The rows of mcp.mail_projects, mail_products, mail_agents and mail_messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.caller import Caller
from skillroute.mail.document_repository import MailDocuments
from skillroute.mail.lists import MailLists
from skillroute.mail.model import (
    MailAgent,
    MailKind,
    Message,
    Product,
    Project,
    RecipientRole,
    agent_key,
)


@dataclass(frozen=True, slots=True)
class MailState:
    """The stored state that a writer compares with, to see what changed. Products are not embedded.

    Attributes
    ----------
    project_ids : tuple of int
        All that it belongs to, ascending; a project itself.
    sender_key : str or None
        Who sent a message, as names of agents are compared.
    agent : MailAgent or None
        What is stored of an agent, without its projects.
    """

    id: int
    content_hash: str
    text_hash: str | None
    is_embedded: bool
    project_ids: tuple[int, ...]
    sender_key: str | None = None
    agent: MailAgent | None = None


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message to be written, with the ids of all that it names."""

    id: int
    content: Message
    content_hash: str
    project_id: int
    sender_id: int
    recipients: tuple[tuple[RecipientRole, int], ...]


_STATES: dict[MailKind, str] = {
    "message": "message_states",
    "agent": "agent_states",
    "project": "project_states",
    "product": "product_states",
}


class MailRepository(MailDocuments, MailLists):
    """Projects, products, agents and messages, and their documents."""

    def lock(self, org_id: str | None) -> None:
        """Lock an organisation's mail for its one writer, to the end of the transaction."""
        self._run("lock_mail", org_id=org_id)

    def new_ids(self, count: int) -> list[int]:
        """Return ids that nothing has, ascending."""
        return [row[0] for row in self._run("new_mail_ids", count=count)]

    def states(self, kind: MailKind, org_id: str | None, keys: Sequence[str]) -> dict[str, MailState]:
        """Return what is stored under the organisation's own keys (agents: `agent_key`); unknown ones are left out."""
        rows = self._run(_STATES[kind], org_id=org_id, keys=list(keys))
        return {row[0]: _to_state(kind, row[1:]) for row in rows}

    def put_projects(self, org_id: str | None, rows: Sequence[tuple[int, Project, str]]) -> None:
        """Write projects by id, with their content hashes; their documents are there already, as for all below."""
        as_json = [
            {
                "id": id_,
                "key": project.key,
                "name": project.name,
                "description": project.description,
                "content_hash": hash_,
            }
            for id_, project, hash_ in rows
        ]
        self._run("put_projects", org_id=org_id, rows=json.dumps(as_json))

    def put_products(self, org_id: str | None, rows: Sequence[tuple[Product, str, Sequence[int]]]) -> list[int]:
        """Write products by key, with their content hashes and the ids of their projects; return their ids."""
        ids = []
        for product, hash_, project_ids in rows:
            id_: int = self._run(
                "put_product",
                org_id=org_id,
                key=product.key,
                name=product.name,
                description=product.description,
                content_hash=hash_,
            )[0][0]
            for change in ("drop_product_links", "add_product_links"):
                self._run(change, id=id_, project_ids=list(project_ids))
            ids.append(id_)
        return ids

    def put_agents(self, org_id: str | None, rows: Sequence[tuple[int, MailAgent, str, Sequence[int]]]) -> None:
        """Write agents, with the ids of their projects."""
        as_json = [
            {
                "id": id_,
                "name": agent.name,
                "name_key": agent.key,
                "description": agent.description,
                "contact": agent.contact,
                "content_hash": hash_,
            }
            for id_, agent, hash_, _ in rows
        ]
        self._run("put_agents", org_id=org_id, rows=json.dumps(as_json))
        members = json.dumps([{"id": id_, "project_ids": list(project_ids)} for id_, _, _, project_ids in rows])
        self._run("drop_memberships", rows=members)
        self._run("add_memberships", rows=members)

    def join_projects(self, agent_id: int, project_ids: Sequence[int]) -> None:
        """Let an agent belong to more projects than before. The next write of it counts as a change."""
        rows = json.dumps([{"id": agent_id, "project_ids": list(project_ids)}])
        self._run("add_memberships", rows=rows)
        self._run("show_memberships", id=agent_id)

    def put_messages(self, org_id: str | None, rows: Sequence[MessageRow]) -> None:
        """Write messages and their recipients; an acknowledgement is kept."""
        as_json = [
            {
                "id": row.id,
                "key": row.content.key,
                "project_id": row.project_id,
                "sender_id": row.sender_id,
                "subject": row.content.subject,
                "body": row.content.body,
                "content_hash": row.content_hash,
            }
            for row in rows
        ]
        self._run("put_messages", org_id=org_id, rows=json.dumps(as_json, ensure_ascii=False))
        recipients = _recipients(rows)
        dropped = self._run("drop_recipients", ids=[row.id for row in rows], rows=json.dumps(recipients))
        # An acknowledgement is kept in another role or place.
        when = {(message_id, agent_id): at for message_id, agent_id, at in dropped if at is not None}
        for recipient in recipients:
            at = when.get((recipient["message_id"], recipient["agent_id"]))
            recipient["acknowledged_at"] = None if at is None else at.isoformat()
        self._run("add_recipients", rows=json.dumps(recipients))

    def delete(self, kind: MailKind, id_: int, org_id: str | None) -> bool:
        """Delete what is exactly this organisation's; False when there is none.

        Raises `StatementRejected` with the constraint's name for what messages refer to.
        """
        if kind == "product":
            return bool(self._run("delete_product", id=id_, org_id=org_id))
        if not self._run("delete_mail_document", id=id_, kind=kind, org_id=org_id):
            return False
        if kind == "project":
            self._run("forget_project", id=id_)
        return True

    def unlink_product(self, product_id: int, keep: Sequence[int]) -> None:
        """Take all projects but these from a product. The next write of it changes it."""
        self._run("drop_product_links", id=product_id, project_ids=list(keep))
        self._run("forget_product_hash", id=product_id)

    def acknowledge(self, message_id: int, name_key: str) -> bool:
        """Store a recipient's acknowledgement; False when it is none. The first time counts."""
        return bool(self._run("acknowledge", id=message_id, name_key=name_key))

    def may_see(self, caller: Caller) -> list[int] | None:
        """Return the projects whose mail a caller may look at, ascending; None stands for all of its organisation.

        An operator sees all; anybody else what the agent that their token names belongs to, without one nothing. No
        request widens that (message-search, section 6).
        """
        if caller.is_operator:
            return None
        return [] if caller.agent is None else self.projects_of_agent(agent_key(caller.agent), caller.org_id)

    def projects_of_agent(self, name_key: str, org_id: str | None) -> list[int]:
        """Return the projects that an agent of this name belongs to: ids, ascending."""
        return [row[0] for row in self._run("projects_of_agent", name_key=name_key, org_id=org_id)]

    def has_other_members(self, project_id: int, name_key: str | None, org_id: str | None) -> bool:
        """Return whether other agents than this one, of the organisation or global, belong to a project."""
        rows = self._run("has_other_members", id=project_id, name_key=name_key, org_id=org_id)
        return bool(rows[0][0])

    def projects_of_product(self, product_id: int, org_id: str | None) -> list[int]:
        """Return the projects linked to a product, ascending; none when there is no such product."""
        return [row[0] for row in self._run("projects_of_product", id=product_id, org_id=org_id)]


def _to_state(kind: MailKind, row: list[Any]) -> MailState:
    id_, content_hash, text_hash, is_embedded, project_ids, *rest = row
    sender_key = rest[0] if kind == "message" else None
    agent = MailAgent(*rest) if kind == "agent" else None
    return MailState(id_, content_hash, text_hash, is_embedded, tuple(project_ids), sender_key, agent)


def _recipients(rows: Sequence[MessageRow]) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        places: Counter[str] = Counter()
        for role, agent_id in row.recipients:
            found.append({"message_id": row.id, "role": role, "place": places[role], "agent_id": agent_id})
            places[role] += 1
    return found
