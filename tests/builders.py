"""Systems and catalogues for tests: everything real but the embedder, with faults to be switched on."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any

from skillroute.catalogue.model import ItemContent, ItemKey, ItemType
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.hashing import content_hash
from skillroute.core.postgres.pool import Pool
from skillroute.core.queue.port import Queue
from skillroute.core.settings import LocalSettings
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.skills import create as create_skill
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill, Skill, SkillKey, in_rank_order
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.model import Suggestion, SuggestionStatus
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

QUERY = "schedule a meeting with John"


def of_org(org_id: str | None, *scopes: Scope) -> Caller:
    """Return a caller of an organisation, with every scope unless some are named."""
    return Caller(org_id=org_id, scopes=frozenset(scopes or {Scope.ADMIN}))


_kept_pools: dict[str, Pool] = {}
_kept_connections: dict[str, list[Sql]] = {}


@contextmanager
def kept_pool(url: str) -> Iterator[None]:
    """Let the systems of this block over one database share its connections.

    What PostgreSQL compiles and plans for a new connection is half of what it does for a test. As in a warm function,
    plans may have been made when there were fewer rows.
    """
    _kept_pools[url] = Pool(url)
    _kept_connections[url] = []
    try:
        yield
    finally:
        for kept in (_kept_pools.pop(url), *_kept_connections.pop(url)):
            kept.close()


def _connection(url: str) -> Sql:
    """Return a connection beside the pool: a kept one where there is one, or another one, which takes 10 ms."""
    kept = _kept_connections.get(url, [])
    while kept:
        if (connection := kept.pop()).is_free():
            return connection
        connection.close()
    return Sql(url)


def _give_back(url: str, connection: Sql) -> None:
    """Keep a connection for the next test, unless nothing is kept of the database or it has something open."""
    if url in _kept_connections and connection.is_free():
        _kept_connections[url].append(connection)
    else:
        connection.close()


@lru_cache(maxsize=256, typed=True)
def _made_settings(_environment: frozenset[tuple[str, str]], **given: Any) -> LocalSettings:
    return LocalSettings(**given)


def settings_of(**given: Any) -> LocalSettings:
    """Return the settings that a process has which is given some of them: made once, for that takes 4 ms."""
    environment = frozenset((name, value) for name, value in os.environ.items() if "SKILLROUTE" in name.upper())
    try:
        return _made_settings(environment, **given)
    except TypeError:  # a list or a dict is among them
        return LocalSettings(**given)


class System:
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
        self._kept = _kept_pools.get(url)
        self.pool = self._kept or Pool(url)
        restricted: Any = RestrictedPool(self.pool)
        self.database = FaultyDatabase(restricted)
        self.feed = FaultyFeed(make_feed(restricted))
        # What the contracts say to the letter, they say of these (decisions 33 and 35).
        letter = {"default_mode": "semantic", "registry_fusion": "boost"}
        self.settings = settings_of(database_url=url, **letter | settings)
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
            _give_back(self.url, self.rows)
        self.replica.wait_for_rebuild()  # else it goes on in the next test, whose database is the same
        self.parts.close()
        if self._kept is None:
            self.pool.close()

    @cached_property
    def rows(self) -> Sql:
        """A connection of the test's own; called with a statement it returns the rows."""
        return _connection(self.url)

    # Asking

    def search(self, query: str = QUERY, *, caller: Caller = LAPTOP, **request: Any) -> SearchResponse:
        """Search as `POST /api/v1/search` does."""
        return self.parts.tool_search.search(SearchRequest(query=query, **request), caller)

    def names(self, query: str = QUERY, **request: Any) -> list[str]:
        """Return the names of the tools that a search returns."""
        return [tool.name for tool in self.search(query, **request).tools]

    # Filling: straight through the repositories, so that vectors are exactly the chosen ones

    def skill(
        self,
        skill_id: str,
        vector: Vector | None,
        *,
        name: str | None = None,
        description: str = "A skill that a test made up.",
        org: str | None = None,
    ) -> str:
        """Store a skill that is found by exactly this vector, whatever its tools."""
        new = NewSkill(id=skill_id, name=name or skill_id, description=description, org_id=org)
        text = create_skill.indexed_text(new)
        model = self.embedder.model if vector is not None else None

        def create(session: Any) -> bool:
            if model is not None:
                IndexStateRepository(session).claim(model)
            created: bool = SkillRepository(session).create(new, text, model, vector)
            return created

        assert self.pool.transact(create)
        return skill_id

    def tool(self, name: str, vector: Vector | None = None, *, skills: Sequence[str] = (), **content: Any) -> int:
        """Store one item and return its id; see `tools`."""
        return self.tools([(name, vector)], skills=skills, **content)[0]

    def tools(
        self,
        named: Sequence[tuple[str, Vector | None]],
        *,
        skills: Sequence[str] | Mapping[str, float] = (),
        type: ItemType = "tool",  # noqa: A002 (as the item calls it)
        server: str = "",
        org: str | None = None,
        **content: Any,
    ) -> list[int]:
        """Store items that are found by exactly these vectors, in these skills (the first one primary)."""
        model = self.embedder.model
        rows = []
        for name, vector in named:
            item = ItemContent(key=ItemKey(server, type, name), **content)
            rows.append(ItemRow(item, content_hash(item), indexed_text(item), vector))
        confidences = skills if isinstance(skills, Mapping) else {s: 0.9 - 0.1 * i for i, s in enumerate(skills)}
        assignments = in_rank_order([Assignment(skill_id, sure) for skill_id, sure in confidences.items()])
        keys = self._known_keys(confidences, org) if confidences else {}

        def write(session: Any) -> list[int]:
            IndexStateRepository(session).claim(model)
            written = ItemRepository(session).upsert(org, model, rows)
            ids = [written[row.content.key].id for row in rows]
            if assignments:
                AssignmentRepository(session).replace(
                    dict.fromkeys(ids, assignments), keys, AssignmentSource.HUMAN_MANUAL
                )
            return ids

        return self.pool.transact(write)

    def _known_keys(self, skill_ids: Iterable[str], org: str | None) -> dict[str, SkillKey]:
        """Return the keys of skills: those that the organisation sees, or of whom there are any."""
        sql = _connection(self.url)  # tests store tools in threads of their own, too
        try:
            rows = sql(
                "SELECT id, key FROM mcp.skill_categories WHERE id = ANY (:ids::text[]) "
                "ORDER BY org_id IS NOT DISTINCT FROM :org::text, org_id IS NULL",
                ids=list(skill_ids),
                org=org,
            )
        finally:
            _give_back(self.url, sql)
        return {skill_id: SkillKey(key) for skill_id, key in rows}

    def sql(self, statement: str) -> None:
        """Change rows behind everybody's back; the change feed sees it all the same."""
        self.pool.transact(lambda connection: connection.script(statement))

    # The skill service

    def create(self, skill_id: str, caller: Caller = LAPTOP, **fields: Any) -> Skill:
        """Create a skill as `POST /api/v1/skills` does."""
        new = {"id": skill_id, "name": skill_id, "description": f"All about {skill_id}.", **fields}
        return self.parts.skills.create(NewSkill(**new), caller)

    def change(self, skill_id: str, caller: Caller = LAPTOP, **changes: Any) -> Skill:
        """Change a skill as `PATCH /api/v1/skills/{id}` does."""
        return self.parts.skills.change(skill_id, changes, caller)

    def put(self, *names: str, caller: Caller = LAPTOP, **fields: Any) -> list[int]:
        """Store items as `PUT /api/v1/tools` does, and return their ids."""
        report = self.parts.catalogue.sync([item(name, **fields) for name in names], caller)
        return [outcome.id for outcome in report.outcomes if outcome.id is not None]

    def classify(self, *tool_ids: int, force: bool = False) -> list[Any]:
        """Classify tools as the queue's consumer does, and return what became of each."""
        results = self.parts.classification.classify(list(tool_ids), force=force)
        return [results[tool_id] for tool_id in tool_ids]

    def assign(self, tool_id: int, caller: Caller = LAPTOP, **confidences: float) -> None:
        """Assign a tool by hand as `PUT /api/v1/tools/{id}/skills` does."""
        given = [Assignment(skill_id, sure) for skill_id, sure in confidences.items()]
        self.parts.skills.assign.of_tool(tool_id, given, caller)

    def assigned(self, tool_id: int) -> dict[str, tuple[float, bool, str]]:
        """Return confidence, primacy and source of each of a tool's skills, as they are stored."""
        rows = self.rows(
            "SELECT c.id, confidence, is_primary, source FROM mcp.tool_skill_assignments a "
            "JOIN mcp.skill_categories c ON c.key = a.skill_key "
            "WHERE tool_id = :id ORDER BY confidence DESC, skill_key",
            id=tool_id,
        )
        return {skill_id: (confidence, primary, source) for skill_id, confidence, primary, source in rows}

    def skills_of(self, tool_id: int) -> list[str]:
        """Return a tool's skills, the surest first."""
        return list(self.assigned(tool_id))

    def keys_of(self, tool_id: int) -> list[str]:
        """Return the keys of a tool's skills, the surest first."""
        rows = self.rows(
            "SELECT skill_key FROM mcp.tool_skill_assignments WHERE tool_id = :id ORDER BY confidence DESC, skill_key",
            id=tool_id,
        )
        return [row[0] for row in rows]

    def waiting(self, queue: str) -> list[str]:
        """Return the keys of the work that waits in the outbox."""
        rows = self.rows("SELECT key FROM mcp.outbox WHERE queue = :queue ORDER BY key", queue=queue)
        return [row[0] for row in rows]

    def vector(self, key: str, *, of_description: bool = False) -> Vector | None:
        """Return what a skill is found by, or the vector of its description."""
        column = "v.embedding" if of_description else "coalesce(v.derived, v.embedding)"
        rows = self.rows(
            f"SELECT {column} FROM mcp.document_vectors v "
            "JOIN mcp.index_state s ON (s.embedding_model, s.embedding_dimension) = (v.model, v.dimension) "
            "WHERE v.collection = 'mcp_skills' AND v.key = :key",
            key=key,
        )
        return None if not rows or rows[0][0] is None else from_bytes(rows[0][0])

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

    def suggestions(self, status: str | None = "pending", caller: Caller = LAPTOP) -> list[Suggestion]:
        """Return the suggestions of a status, by id."""
        wanted = SuggestionStatus(status) if status else None
        return self.parts.skills.review.page(wanted, caller, limit=1000, offset=0)[0]


class WatchedReplica(PostgresReplica):
    """PostgreSQL as the index of a system, behind the same double as an index that is built."""

    def __init__(self, system: System, own_model: Callable[[], EmbeddingModel | None]) -> None:
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


@contextmanager
def lent_system(url: str, edges: EdgeIndexes, **settings: Any) -> Iterator[System]:
    """Lend a system for the length of a block."""
    system = System(url, edges, **settings)
    try:
        yield system
    finally:
        system.close()


_numbers = itertools.count(1)


def item(name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an item as `PUT /api/v1/tools` takes it, with a name of its own unless it is given one."""
    return {"name": name or f"tool_{next(_numbers)}", "description": "Does what a test wants.", **fields}
