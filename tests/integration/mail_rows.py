"""Agent mail written straight through the repositories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import Vector
from skillroute.core.hashing import content_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.documents import of_agent, of_message, of_project
from skillroute.mail.model import MailAgent, Message, Product, Project, agent_key
from skillroute.mail.repository import MailRepository, MessageRow

from tests.integration.rows import MODEL

T0 = 1_763_765_100_000_000


class Mail:
    """Writes of one organisation, each in its own transaction. Agents and projects are made when they are named."""

    def __init__(self, database: Database, org: str | None = None) -> None:
        self._database = database
        self._org = org
        self.projects: dict[str, int] = {}
        self.agents: dict[str, int] = {}
        self.ids: dict[str, int] = {}

    def project(self, key: str, name: str = "A project", description: str = "") -> int:
        project = Project(key, name, description)

        def write(session: Session) -> int:
            id_ = self.projects.get(key) or MailRepository(session).new_ids(1)[0]
            MailRepository(session).put_documents(self._org, None, [(of_project(id_, project), None)])
            MailRepository(session).put_projects(self._org, [(id_, project, content_hash(project))])
            return id_

        self.projects[key] = self._database.transact(write)
        return self.projects[key]

    def agent(self, name: str, *projects: str, description: str = "", contact: str = "") -> int:
        agent = MailAgent(name, description, contact, projects)
        belongs = tuple(self._project(key) for key in projects)

        def write(session: Session) -> int:
            id_ = self.agents.get(agent.key) or MailRepository(session).new_ids(1)[0]
            MailRepository(session).put_documents(self._org, None, [(of_agent(id_, agent, belongs), None)])
            MailRepository(session).put_agents(self._org, [(id_, agent, content_hash(agent), belongs)])
            return id_

        self.agents[agent.key] = self._database.transact(write)
        return self.agents[agent.key]

    def product(self, key: str, *projects: str, name: str = "A product") -> int:
        product = Product(key, name, "", projects)
        linked = [self._project(each) for each in projects]
        row = (product, content_hash(product), linked)
        return self._database.transact(lambda session: MailRepository(session).put_products(self._org, [row]))[0]

    def message(
        self, key: str, body: str = "", *, vector: Vector | None = None, project: str = "p", sender: str = "Ann",
        to: Sequence[str] = ("Bob",), subject: str = "", created_ts: int = T0, **more: Any,
    ) -> int:  # fmt: skip
        """Write a message and return its id."""
        message = Message(key, project, sender, tuple(to), subject, body, created_ts, **more)
        project_id = self._project(project)
        recipients = tuple((role, self._agent(name)) for role, name in message.recipients)
        sender_id = self._agent(sender)

        def write(session: Session) -> int:
            id_ = self.ids.get(key) or MailRepository(session).new_ids(1)[0]
            if vector is not None:
                IndexStateRepository(session).claim(MODEL)
            document = of_message(id_, message, project_id)
            MailRepository(session).put_documents(
                self._org, MODEL if vector is not None else None, [(document, vector)]
            )
            row = MessageRow(id_, message, content_hash(message), project_id, sender_id, recipients)
            MailRepository(session).put_messages(self._org, [row])
            return id_

        self.ids[key] = self._database.transact(write)
        return self.ids[key]

    def _project(self, key: str) -> int:
        return self.projects.get(key) or self.project(key)

    def _agent(self, name: str) -> int:
        return self.agents.get(agent_key(name)) or self.agent(name)
