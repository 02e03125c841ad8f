"""Agent mail of a world, stored with the vectors that a test chooses, and searches in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import Vector
from skillroute.mail.documents import MailDocument, of_agent, of_message, of_project
from skillroute.mail.model import MailAgent, Message, Product, Project, agent_key
from skillroute.mail.repository import MailRepository, MessageRow
from skillroute.mail.search.answers import Explain, MessageResult, MessageSearchResponse
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch

from tests.worlds.core import Core

_keys = itertools.count(1)


def agent(name: str, org: str | None = None) -> Caller:
    """Return a caller that may search what this agent may see."""
    return Caller(org_id=org, scopes=frozenset({Scope.SEARCH}), agent=name)


class MailSearchWorld(Core):
    """Stores projects, agents and messages through the repositories, and searches them as the routes do."""

    @cached_property
    def message_search(self) -> MessageSearch:
        return self.parts.messages.search

    @cached_property
    def _projects(self) -> dict[tuple[str | None, str], int]:
        return {}

    # Writing

    def store_project(
        self, key: str = "atlas", *, org: str | None = None, name: str | None = None, vector: Vector | None = None,
        description: str = "",
    ) -> int:  # fmt: skip
        """Store a project once, and return its id."""
        if (org, key) in self._projects:
            return self._projects[org, key]
        content = Project(key, name or key.title(), description)

        def write(session: Any) -> int:
            id_: int = MailRepository(session).new_ids(1)[0]
            self._document(session, org, of_project(id_, content), vector)
            MailRepository(session).put_projects(org, [(id_, content, key)])
            return id_

        self._projects[org, key] = self.pool.transact(write)
        return self._projects[org, key]

    def store_product(self, key: str, *projects: int, org: str | None = None) -> int:
        def write(session: Any) -> int:
            id_: int = MailRepository(session).put_products(org, [(Product(key, key.title()), key, projects)])[0]
            return id_

        return self.pool.transact(write)

    def store_agent(
        self, name: str, *projects: int, org: str | None = None, vector: Vector | None = None, **said: str
    ) -> int:
        """Store an agent with the projects that it belongs to, or change it; return its id."""
        content = MailAgent(name, **said)

        def write(session: Any) -> int:
            known = MailRepository(session).states("agent", org, [agent_key(name)])
            id_: int = known[agent_key(name)].id if known else MailRepository(session).new_ids(1)[0]
            self._document(session, org, of_agent(id_, content, projects), vector)
            MailRepository(session).put_agents(org, [(id_, content, name, projects)])
            return id_

        return self.pool.transact(write)

    def store_message(
        self,
        subject: str,
        body: str = "",
        vector: Vector | None = None,
        *,
        project: str = "atlas",
        org: str | None = None,
        sender: str = "BlueLake",
        to: Sequence[str] = ("RedFox",),
        cc: Sequence[str] = (),
        bcc: Sequence[str] = (),
        created_ts: int = 1_000_000,
        **said: Any,
    ) -> int:
        """Store a message, with whoever it names, and return its id."""
        project_id = self.store_project(project, org=org)
        content = Message(
            f"m{next(_keys)}", project, sender, tuple(to), subject, body, created_ts, tuple(cc), tuple(bcc), **said
        )

        def write(session: Any) -> int:
            known = MailRepository(session).states("agent", org, [agent_key(name) for name in content.names])
            ids = {name: known[agent_key(name)].id for name in content.names if agent_key(name) in known}
            for name in dict.fromkeys(content.names):
                if name not in ids:
                    ids[name] = MailRepository(session).new_ids(1)[0]
                    self._document(session, org, of_agent(ids[name], MailAgent(name), ()), None)
                    MailRepository(session).put_agents(org, [(ids[name], MailAgent(name), "", ())])
            id_: int = MailRepository(session).new_ids(1)[0]
            recipients = tuple((role, ids[name]) for role, name in content.recipients)
            self._document(session, org, of_message(id_, content, project_id), vector)
            MailRepository(session).put_messages(
                org, [MessageRow(id_, content, content.key, project_id, ids[sender], recipients)]
            )
            return id_

        return self.pool.transact(write)

    def delete_messages(self, *ids: int, org: str | None = None) -> None:
        """Delete messages."""
        self.pool.transact(lambda session: [MailRepository(session).delete("message", id_, org) for id_ in ids])

    def _document(self, session: Any, org: str | None, document: MailDocument, vector: Vector | None) -> None:
        MailRepository(session).lock(org)
        model = None if vector is None else self.embedder.model
        if model is not None:
            IndexStateRepository(session).claim(model)
        MailRepository(session).put_documents(org, model, [(document, vector)])

    # Searching

    def search_mail(self, text: str = "", *, caller: Caller = LAPTOP, **request: Any) -> MessageSearchResponse:
        """Search as `POST /api/v1/search/messages` does."""
        return self.message_search(MessageSearchRequest(text=text, **request), caller)

    def found_mail(self, text: str = "", **request: Any) -> list[int]:
        """Return the ids of what a search finds, in order."""
        return [result.id for result in self.search_mail(text, **request).results]

    def mail_results(self, text: str = "", **request: Any) -> dict[int, MessageResult]:
        return {result.id: result for result in self.search_mail(text, **request).results}

    def mail_scores(self, text: str = "", **request: Any) -> dict[int, float]:
        return {result.id: result.score for result in self.search_mail(text, **request).results}

    def explain_mail(self, text: str = "", **request: Any) -> Explain:
        explain = self.search_mail(text, explain=True, **request).explain
        assert explain is not None
        return explain

    def mail_pages(self, text: str = "", **request: Any) -> list[list[int]]:
        """Follow the cursors from page 1 to the end; return the ids of each page."""
        pages: list[list[int]] = []
        cursor = None
        while True:
            answer = self.search_mail(text, cursor=cursor, **request)
            pages.append([result.id for result in answer.results])
            cursor = answer.next_cursor
            if cursor is None:
                return pages
            assert len(pages) < 200, "the cursors go round"
