"""Section 8 of message-search: what an index tells of itself, each with one log line and one metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
import pytest
from qdrant_client import QdrantClient
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.embedded_generation import Built
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.documents.model import HEAD, Change, FeedPage, IndexRecord, Models
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.observability import counts
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.doubles import FakeClock, LogRecords

MODEL = EmbeddingModel("table", 3)
OTHER = EmbeddingModel("other", 3)
MAIL, SKILLS = MAIL_DOCUMENTS, SKILL_DOCUMENTS
FIELDS = {
    "index.rebuild.start": ("doc_count", "engine"),
    "index.rebuild.complete": ("doc_count", "duration_ms", "engine"),
    "index.incremental.batch": ("batch_size", "engine"),
    "index.schema.mismatch": ("expected", "actual"),
}
METRICS = {
    "index.rebuild.start": "IndexRebuildStart",
    "index.rebuild.complete": "IndexRebuildComplete",
    "index.incremental.batch": "IndexIncrementalBatch",
    "index.schema.mismatch": "IndexSchemaMismatch",
}


class Feed:
    """A change feed in memory: one change a write, at ever higher positions."""

    def __init__(self) -> None:
        self.epoch = "first"
        self.model: EmbeddingModel | None = MODEL
        self.rows: dict[tuple[Collection, str], IndexRecord] = {}
        self.changes: dict[tuple[Collection, str], int] = {}
        self.position = 1
        self.on_load_all: Callable[[], None] = lambda: None

    def put(self, collection: Collection, *keys: str) -> None:
        for key in keys:
            payload = {"kind": "message", "org_id": "", "name": key, "db_id": 1}
            self.rows[collection, key] = IndexRecord(key, [1.0, 0.0, 0.0], "", payload, {"approval": 1.0})
            self._changed(collection, key)

    def delete(self, collection: Collection, key: str) -> None:
        del self.rows[collection, key]
        self._changed(collection, key)

    def _changed(self, collection: Collection, key: str) -> None:
        self.changes[collection, key] = self.position
        self.position += 1

    def poll(self, position: str) -> FeedPage:
        seen = int(position.split(":")[1])
        changes = [Change(c, key, xid) for (c, key), xid in self.changes.items() if xid >= seen]
        return FeedPage(self.epoch, Models(self.model), f"{self.position}:{self.position}:", changes)

    def lag(self, position: str) -> int:
        return len(self.poll(position).changes)

    def load(self, collection: Collection, keys: Sequence[str], model: EmbeddingModel) -> list[IndexRecord]:
        return [self.rows[collection, key] for key in keys if (collection, key) in self.rows]

    def load_all(
        self, collection: Collection, model: EmbeddingModel, after: str | None = None
    ) -> Iterator[list[IndexRecord]]:
        self.on_load_all()
        yield [record for (c, _), record in self.rows.items() if c is collection]

    def count(self) -> int:
        return len(self.rows)


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def replica(make_edge: Callable[[], VectorIndex], feed: Feed) -> Iterator[IndexReplica]:
    """An embedded replica over the feed. What a server tells: tests/integration/core/documents/index/test_shared.py."""
    replica = EmbeddedReplica(feed, lambda _: make_edge(), lambda: MODEL)
    yield replica
    replica.close()


def search(replica: IndexReplica) -> None:
    with replica.current():
        pass


def told(log: LogRecords, *names: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events among the log's lines, in order, with what they carry but the duration."""
    found = []
    for record in log.records:
        name = record.getMessage()
        if name in (names or FIELDS):
            assert all(hasattr(record, field) for field in FIELDS[name]), f"{name} lacks a field"
            found.append((name, {f: getattr(record, f) for f in FIELDS[name] if f != "duration_ms"}))
    return found


def start(count: int) -> tuple[str, dict[str, Any]]:
    return "index.rebuild.start", {"doc_count": count, "engine": "tantivy"}


def complete(count: int) -> tuple[str, dict[str, Any]]:
    return "index.rebuild.complete", {"doc_count": count, "engine": "tantivy"}


def batch(size: int) -> tuple[str, dict[str, Any]]:
    return "index.incremental.batch", {"batch_size": size, "engine": "tantivy"}


def test_the_first_search_tells_that_everything_is_read_and_the_next_nothing(
    replica: IndexReplica, feed: Feed, log: LogRecords
) -> None:
    feed.put(MAIL, "1", "2")
    feed.put(SKILLS, "garden")
    search(replica)
    search(replica)
    assert told(log) == [start(3), complete(3)]


def test_what_has_changed_since_is_a_batch(replica: IndexReplica, feed: Feed, log: LogRecords) -> None:
    search(replica)
    log.records.clear()
    feed.put(MAIL, "1", "2", "3")
    search(replica)
    feed.delete(MAIL, "2")
    search(replica)
    search(replica)
    assert told(log) == [batch(3), batch(1)]


def test_each_event_has_its_metric(replica: IndexReplica, feed: Feed, log: LogRecords) -> None:
    before = counts()
    feed.put(MAIL, "1")
    search(replica)
    feed.put(MAIL, "2")
    search(replica)
    feed.model = OTHER
    search(replica)
    names = [name for name, _ in told(log)]
    assert set(names) == set(METRICS)
    for name, metric in METRICS.items():
        assert counts().get(metric, 0) - before.get(metric, 0) == names.count(name)


def test_stored_vectors_of_another_model_are_a_mismatch(replica: IndexReplica, feed: Feed, log: LogRecords) -> None:
    feed.model = OTHER
    search(replica)
    assert told(log)[0] == ("index.schema.mismatch", {"expected": str(MODEL), "actual": str(OTHER)})


def test_the_duration_is_in_milliseconds(make_edge: Callable[[], VectorIndex], feed: Feed, log: LogRecords) -> None:
    clock = FakeClock()
    feed.on_load_all = lambda: clock.advance(0.25)
    replica = EmbeddedReplica(feed, lambda _: make_edge(), lambda: MODEL, clock=clock)
    search(replica)
    [record] = log.having("index.rebuild.complete")
    assert record.duration_ms == 250 * len(collections())  # type: ignore[attr-defined]


def test_a_rebuild_that_fails_is_not_complete(
    make_edge: Callable[[], VectorIndex], feed: Feed, log: LogRecords
) -> None:
    def fail() -> None:
        raise IndexUnavailable("the disk is full")

    feed.on_load_all = fail
    replica = EmbeddedReplica(feed, lambda _: make_edge(), lambda: MODEL)
    with pytest.raises(IndexUnavailable):
        search(replica)
    assert told(log) == [start(0)]


@pytest.mark.parametrize("collection", [TOOL_DOCUMENTS, MAIL_DOCUMENTS])
def test_an_index_that_is_built_in_a_child_process_tells_the_same(
    make_edge: Callable[[], VectorIndex], feed: Feed, log: LogRecords, collection: Collection
) -> None:
    def build(model: EmbeddingModel) -> Built:
        index = make_edge()
        index.upsert(collection, feed.load(collection, ["1", "2"], MODEL))
        return Built(index, feed.poll(HEAD))

    feed.put(collection, "1", "2")
    replica = EmbeddedReplica(feed, lambda _: make_edge(), lambda: MODEL, make_optimised=build, optimise_above=2)
    search(replica)
    replica.wait_for_rebuild()
    assert told(log, "index.rebuild.start", "index.rebuild.complete") == [start(2), complete(2)] * 2
    replica.close()


@pytest.mark.parametrize(
    ("vectors", "actual"),
    [({"dense": {"size": 768, "distance": "Cosine"}}, "768"), ({}, "None"), ({"size": 768, "distance": "Dot"}, "None")],
)
def test_a_servers_collection_of_another_dimension_is_a_mismatch(
    log: LogRecords, vectors: dict[str, Any], actual: str
) -> None:
    config = {
        "params": {"vectors": vectors},
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
        "optimizer_config": {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        },
    }
    info = {"status": "green", "optimizer_status": "ok", "segments_count": 1, "payload_schema": {}, "config": config}

    def serve(request: httpx.Request) -> httpx.Response:
        result = {"exists": True} if request.url.path.endswith("/exists") else info
        return httpx.Response(200, json={"result": result, "status": "ok", "time": 0.0})

    client = QdrantClient(url="http://qdrant.test", check_compatibility=False, transport=httpx.MockTransport(serve))
    index = QdrantIndex(client, 384)
    with pytest.raises(IndexUnavailable, match="holds no vectors of 384 dimensions"):
        index.count(MAIL)
    assert told(log) == [("index.schema.mismatch", {"expected": "384", "actual": actual})]
    index.close()
