"""Systems and catalogues for tests: everything real but the embedder, with faults to be switched on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from skillroute.bootstrap import Parts
from skillroute.domain.caller import LAPTOP, Caller, Scope
from skillroute.domain.embedding import EmbeddingModel, Vector
from skillroute.domain.hashing import content_hash
from skillroute.domain.items import ItemContent, ItemKey, ItemType
from skillroute.domain.search import SearchRequest, SearchResponse
from skillroute.domain.skills import Assignment, AssignmentSource, NewSkill, in_rank_order
from skillroute.ports import Embedder, ItemRow
from skillroute.search.embed import QueryEmbedder
from skillroute.services import create_skill, sync_tools
from skillroute.settings import SearchSettings
from skillroute.storage.index.embedded import EmbeddedReplica
from skillroute.storage.postgres.connection import Pool
from skillroute.storage.postgres.database import PostgresDatabase
from skillroute.storage.postgres.feed import PostgresFeed

from tests.doubles import (
    EdgeIndexes,
    FakeClock,
    FaultyDatabase,
    FaultyFeed,
    FaultyIndex,
    TableEmbedder,
    WatchedEmbedder,
)

QUERY = "schedule a meeting with John"


def of_org(org_id: str | None, *scopes: Scope) -> Caller:
    """Return a caller of an organisation, with every scope unless some are named."""
    return Caller(org_id=org_id, scopes=frozenset(scopes or {Scope.ADMIN}))


class System:
    """A whole Skillroute over one database, its faults, and what it was asked.

    Attributes
    ----------
    embedder, feed, database : the doubles before the real parts
    clock : FakeClock
        The one that the embedder's failures are remembered by.
    """

    def __init__(self, url: str, edges: EdgeIndexes, *, embedder: Embedder | None = None, **settings: Any) -> None:
        self.clock = FakeClock()
        self.embedder = WatchedEmbedder(embedder or TableEmbedder(), self.clock)
        self._edges = edges
        self._index: FaultyIndex | None = None
        self.pool = Pool(url)
        self.database = FaultyDatabase(PostgresDatabase(self.pool))
        self.feed = FaultyFeed(PostgresFeed(self.pool))
        self.settings = SearchSettings(database_url=url, **settings)  # type: ignore[arg-type]
        queries = QueryEmbedder(
            self.embedder,
            timeout_s=self.settings.query_timeout_s,
            cache_size=self.settings.query_cache_size,
            retry_after_s=self.settings.embedding_retry_after_s,
            clock=self.clock,
        )
        self.replica = EmbeddedReplica(self.feed, self._make_index, queries.model)
        self.parts = Parts(self.settings, embedder=self.embedder, replica=self.replica, database=self.database)
        self.parts.query_embedder = queries  # type: ignore[misc]

    def _make_index(self, model: EmbeddingModel) -> FaultyIndex:
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
        self.parts.close()
        self.pool.close()

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
                session.index_state.claim(model)
            created: bool = session.skills.create(new, text, model, vector)
            return created

        assert PostgresDatabase(self.pool).transact(create)
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
            rows.append(ItemRow(item, content_hash(item), sync_tools.indexed_text(item), vector))
        confidences = skills if isinstance(skills, Mapping) else {s: 0.9 - 0.1 * i for i, s in enumerate(skills)}
        assignments = in_rank_order([Assignment(skill_id, sure) for skill_id, sure in confidences.items()])

        def write(session: Any) -> list[int]:
            session.index_state.claim(model)
            written = session.items.upsert(org, model, rows)
            ids = [written[row.content.key].id for row in rows]
            if assignments:
                session.assignments.replace(dict.fromkeys(ids, assignments), AssignmentSource.HUMAN_MANUAL)
            return ids

        return PostgresDatabase(self.pool).transact(write)

    def sql(self, statement: str) -> None:
        """Change rows behind everybody's back; the change feed sees it all the same."""
        self.pool.transact(lambda connection: connection.script(statement))


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
