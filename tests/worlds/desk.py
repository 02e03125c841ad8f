"""All use cases over one database, as the composition root joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.read import Catalogue
from skillroute.catalogue.sync import SyncReport, SyncTools
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.embed_missing import EmbedMissing
from skillroute.core.documents.reindex import Reindex
from skillroute.core.documents.stored_model import StoredModelEmbedder
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.core.postgres.pool import Pool
from skillroute.core.queue.dispatch import Dispatch
from skillroute.registry.servers import RegisteredServers
from skillroute.skills.aggregation.aggregate import AggregateSkill
from skillroute.skills.assignments.assign import AssignSkills
from skillroute.skills.change import ChangeSkill
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.create import CreateSkill, PrepareSkill
from skillroute.skills.model import NewSkill, Skill
from skillroute.skills.queues import AGGREGATE
from skillroute.skills.read import ReadSkills
from skillroute.skills.suggestions.review import ReviewSuggestions

from tests.doubles import WatchedEmbedder
from tests.integration.rows import Sql

ACME = Caller(org_id="acme")
UMBRELLA = Caller(org_id="umbrella")


class Renamed:
    """Hashing vectors under another model's name, or of another dimension."""

    def __init__(self, name: str, dimension: int = 8) -> None:
        self._inner = HashingEmbedder(dimension)
        self._model = EmbeddingModel(name, dimension)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return self._inner.embed(texts, timeout_s=timeout_s)


class Desk:
    """The use cases, what the embedder was asked, and how often something was committed."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.pool = Pool(url)
        self.database = FollowedDatabase(self.pool, self.after_commit)
        self.sql = Sql(url)
        self.commits = 0
        self.use(Renamed("first"))

    def use(self, embedder: Any) -> WatchedEmbedder:
        """Go on with another embedding model, as a process of another configuration would."""
        self.embedder = WatchedEmbedder(embedder)
        self.aggregate = AggregateSkill(self.database)
        # Without a queue, skills are aggregated right after the commit.
        self.dispatch = Dispatch(self.database, None, {AGGREGATE: self.aggregate})
        documents = StoredModelEmbedder(self.embedder, self.database)
        self.servers = RegisteredServers()
        self.sync = SyncTools(Writer(self.database, documents), self.servers)
        self.prepare_skill = PrepareSkill(documents)
        self.create_skill = CreateSkill(self.database, self.prepare_skill)
        self.change_skill = ChangeSkill(self.database, self.prepare_skill)
        self.read_skills = ReadSkills(self.database)
        self.catalogue = Catalogue(self.database, self.servers)
        self.assign = AssignSkills(self.database)
        self.reindex = Reindex(self.pool, self.embedder, derive=self.aggregate.derive_all, finish=self.after_commit)
        self.embed_missing = EmbedMissing(self.database, self.embedder)
        self.review = ReviewSuggestions(self.database, self.prepare_skill, self.change_skill)
        return self.embedder

    def after_commit(self) -> None:
        self.commits += 1
        self.dispatch()

    def close(self) -> None:
        self.sql.close()
        self.pool.close()

    def put(self, *items: object, caller: Caller = LAPTOP) -> SyncReport:
        return self.sync(list(items), caller)

    def ids(self, *names: str) -> list[int]:
        """Store items of these names and return their ids."""
        outcomes = self.put(*(tool(name) for name in names)).outcomes
        return [outcome.id for outcome in outcomes if outcome.id is not None]

    def skill(self, skill_id: str, caller: Caller = LAPTOP, **fields: Any) -> Skill:
        new = {"id": skill_id, "name": skill_id, "description": f"All about {skill_id}.", **fields}
        return self.create_skill(NewSkill(**new), caller)

    def vector(self, collection: Collection, name: str, *, of_description: bool = False) -> Vector | None:
        """Return what an item, by name, or a skill, by id, is found by; or the vector of the skill's description."""
        table, key = _ROWS[collection]
        column = "v.embedding" if of_description else "coalesce(v.derived, v.embedding)"
        rows = self.sql(
            f"SELECT {column} FROM {table} JOIN mcp.index_state s ON true JOIN mcp.document_vectors v ON v.key = {key} "
            "AND v.collection = :collection AND (v.model, v.dimension) = (s.embedding_model, s.embedding_dimension)",
            name=name,
            collection=collection.value,
        )
        return None if not rows or rows[0][0] is None else from_bytes(rows[0][0])

    def models_of(self, name: str) -> set[str]:
        """Return the models that an item has vectors of, made of the text that it has now."""
        rows = self.sql(
            "SELECT v.model FROM mcp.tools t JOIN mcp.documents d ON d.key = t.id::text "
            "JOIN mcp.document_vectors v USING (collection, key, text_hash) "
            "WHERE t.name = :name AND d.collection = 'mcp_unified_search' AND v.embedding IS NOT NULL",
            name=name,
        )
        return {row[0] for row in rows}


_ROWS = {
    TOOL_DOCUMENTS: ("(SELECT id::text FROM mcp.tools WHERE name = :name) t", "t.id"),
    SKILL_DOCUMENTS: ("(SELECT key FROM mcp.skill_categories WHERE id = :name) c", "c.key"),
}


def tool(name: str, description: str = "Does what a test wants.", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": description, **fields}


def statuses(report: SyncReport) -> list[str]:
    return [outcome.status for outcome in report.outcomes]
