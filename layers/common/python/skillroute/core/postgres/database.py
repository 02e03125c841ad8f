"""`ports.Database` over the pool: repositories for the length of a unit of work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from skillroute.catalogue.repository import PostgresItems
from skillroute.core.documents.checks import PostgresChecks
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.ports import Session
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool
from skillroute.core.queue.outbox import PostgresOutbox
from skillroute.mail.repository import PostgresMail
from skillroute.mail.search_repository import PostgresMailSearch
from skillroute.registry.repository import PostgresRegistry
from skillroute.skills.assignment_repository import PostgresAssignments
from skillroute.skills.classification_repository import PostgresClassifications
from skillroute.skills.repository import PostgresSkills
from skillroute.skills.suggestion_repository import PostgresSuggestions

T = TypeVar("T")


class PostgresIndexState:
    """`ports.IndexStateRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    def model(self) -> EmbeddingModel | None:
        _, name, dimension = self._run("index_state")[0]
        return None if name is None else EmbeddingModel(name, dimension)

    def stored_model(self) -> EmbeddingModel | None:
        name, dimension = self._run("stored_model")[0]
        return None if name is None else EmbeddingModel(name, dimension)

    def claim(self, model: EmbeddingModel) -> None:
        self._run("claim_model", name=model.name, dimension=model.dimension)

    def switch(self, model: EmbeddingModel) -> None:
        self._run("switch_model", name=model.name, dimension=model.dimension)

    def prune(self, *, older_than_s: float) -> int:
        count: int = self._run("prune_changes", older_than_s=older_than_s)[0][0]
        return count


class PostgresSession:
    """`ports.Session` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self.items = PostgresItems(connection)
        self.skills = PostgresSkills(connection)
        self.assignments = PostgresAssignments(connection)
        self.classifications = PostgresClassifications(connection)
        self.suggestions = PostgresSuggestions(connection)
        self.registry = PostgresRegistry(connection)
        self.mail = PostgresMail(connection)
        self.mail_search = PostgresMailSearch(connection)
        self.outbox = PostgresOutbox(connection)
        self.checks = PostgresChecks(connection)
        self.index_state = PostgresIndexState(connection)


class PostgresDatabase:
    """`ports.Database` over the pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def read(self, work: Callable[[Session], T]) -> T:
        return self._pool.read(lambda connection: work(PostgresSession(connection)))

    def snapshot(self, work: Callable[[Session], T]) -> T:
        return self._pool.snapshot(lambda connection: work(PostgresSession(connection)))

    def transact(self, work: Callable[[Session], T]) -> T:
        return self._pool.transact(lambda connection: work(PostgresSession(connection)))
