"""A whole Skillroute over one database: its parts, its doubles and its rows; the vocabularies add to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.postgres.pool import Pool
from skillroute.core.queue.port import Queue
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.wiring import Parts
from skillroute.wiring.index import cutters, make_feed

from tests.doubles import (
    EdgeIndexes,
    FakeChat,
    FakeClock,
    FakeNotifier,
    FaultyDatabase,
    FaultyFeed,
    FaultyIndex,
    ScriptedClassifier,
    TableEmbedder,
    WatchedEmbedder,
)
from tests.integration.rows import Sql
from tests.restricted import RestrictedPool
from tests.searched_documents import search_in
from tests.worlds.kept import give_back, kept_pools, lend_connection, settings_of

QUERY = "schedule a meeting with John"


class Core:
    """A whole Skillroute over one database, its faults, and what it was asked.

    Attributes
    ----------
    embedder, feed, database : the doubles before the real parts
    classifier, chat, notifier : the doubles instead of real parts
    clock : FakeClock
        The one that the embedder's failures are remembered by.
    index_fault : SkillrouteError or None
        Why no index can be made.

    With the setting ``index`` (or SKILLROUTE_INDEX) ``postgres`` searches are answered by PostgreSQL.
    """

    def __init__(
        self,
        url: str,
        edges: EdgeIndexes,
        *,
        embedder: Embedder | None = None,
        classifier: Classifier | None = None,
        queue: Queue | None = None,
        **settings: Any,
    ) -> None:
        self.url = url
        self.clock = FakeClock()
        self.embedder = WatchedEmbedder(embedder or TableEmbedder(), self.clock)
        self._edges = edges
        self._index: FaultyIndex | None = None
        self.index_fault: SkillrouteError | None = None
        self._kept = kept_pools.get(url)
        self.pool = self._kept or Pool(url)
        restricted: Any = RestrictedPool(self.pool)
        self.database = FaultyDatabase(restricted)
        self.feed = FaultyFeed(make_feed(restricted))
        # What the contracts say to the letter, they say of these (decisions 33 and 35).
        letter = {"default_mode": "semantic", "registry_fusion": "boost"}
        # No thread that writes outlasts a test which does not ask for receipts or events; and two answers are equal.
        self.settings = settings_of(database_url=url, **letter | {"receipts": "off", "trace": "off"} | settings)
        self.classifier = ScriptedClassifier()
        self.chat = FakeChat()
        self.notifier = FakeNotifier()
        queries = QueryEmbedder(
            self.embedder,
            timeout_s=self.settings.query_timeout_s,
            cache_size=self.settings.query_cache_size,
            retry_after_s=self.settings.embedding_retry_after_s,
            clock=self.clock,
        )
        self.replica = self._make_replica(queries)
        self.parts = Parts(
            self.settings,
            embedder=self.embedder,
            query_embedder=queries,
            replica=self.replica,
            database=self.database,
            queue=queue,
            classifier=classifier or self.classifier,
            chat=self.chat,
            notifier=self.notifier,
        )

    def _make_replica(self, queries: QueryEmbedder) -> EmbeddedReplica | WatchedReplica:
        if self.settings.index_kind != "postgres":
            return EmbeddedReplica(self.feed, self._make_index, queries.model)
        search_in(self.pool)  # as the relay has done long ago
        return WatchedReplica(self, queries.model)

    def _make_index(self, model: EmbeddingModel) -> FaultyIndex:
        if self.index_fault is not None:
            raise self.index_fault
        self._index = self._edges.lend(model)
        return self._index

    @property
    def index(self) -> FaultyIndex:
        """The index that searches ask, made if there is none yet."""
        if self._index is None:
            with self.replica.current():
                pass
        assert self._index is not None
        return self._index

    def close(self) -> None:
        if "rows" in self.__dict__:
            give_back(self.url, self.rows)
        self.replica.wait_for_rebuild()  # else it goes on in the next test, whose database is the same
        self.parts.close()
        if self._kept is None:
            self.pool.close()

    @cached_property
    def rows(self) -> Sql:
        """A connection of the test's own; called with a statement it returns the rows."""
        return lend_connection(self.url)

    def sql(self, statement: str) -> None:
        """Change rows behind everybody's back; the change feed sees it all the same."""
        self.pool.transact(lambda connection: connection.script(statement))

    def texts(self, collection: Collection, key: object) -> list[str]:
        """Return what is embedded of a document."""
        [[texts]] = self.rows(
            "SELECT texts FROM mcp.documents WHERE collection = :collection AND key = :key",
            collection=collection.value,
            key=str(key),
        )
        return list(texts)

    def models(self, collection: Collection) -> list[str]:
        """Return the models that documents have vectors of, by name."""
        rows = self.rows(
            "SELECT DISTINCT model FROM mcp.document_vectors WHERE collection = :collection AND embedding IS NOT NULL "
            "ORDER BY 1",
            collection=collection.value,
        )
        return [row[0] for row in rows]

    def is_embedded(self, collection: Collection, key: object) -> bool:
        """Tell whether a document has a vector of the current model."""
        [[found]] = self.rows(
            "SELECT has_vector FROM mcp.vector_state(:collection, :key)", collection=collection.value, key=str(key)
        )
        return bool(found)

    # Asking

    def search(self, query: str = QUERY, *, caller: Caller = LAPTOP, **request: Any) -> SearchResponse:
        """Search as `POST /api/v1/search` does."""
        return self.parts.tool_search.search(SearchRequest(query=query, **request), caller)

    def names(self, query: str = QUERY, **request: Any) -> list[str]:
        """Return the names of the tools that a search returns."""
        return [tool.name for tool in self.search(query, **request).tools]


class WatchedReplica(PostgresReplica):
    """PostgreSQL as the index of a system, behind the same double as an index that is built."""

    def __init__(self, system: Core, own_model: Callable[[], EmbeddingModel | None]) -> None:
        restricted: Any = RestrictedPool(system.pool)
        super().__init__(restricted, own_model, cutters())
        self._system = system

    def lent(self) -> LentIndex:
        system = self._system
        system.feed._check()
        if system.index_fault is not None:
            raise system.index_fault
        index: Any = super().lent()
        if system._index is None:
            system._index = FaultyIndex(index)
        system._index._inner = index  # of the model that is searched now
        return GuardedIndex(system._index, index.model, kind="postgres")

    def wait_for_rebuild(self) -> None:
        """Return: nothing is ever rebuilt."""
