"""The server that all processes share: one position in PostgreSQL, and nobody writes an old state over a newer one."""

from __future__ import annotations

import threading

import pytest
from skillroute.core.documents.feed import SharedPosition
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.documents.index.shared import Opened, SharedReplica
from skillroute.core.documents.model import START, Collection, IndexRecord
from skillroute.core.documents.reindex import Reindex
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors import EmbeddingModelMismatch, IndexUnavailable

from tests.doubles import once
from tests.integration.replica.world import ALL, TOOLS, Step, World, seen
from tests.integration.storage.rows import EAST, MODEL, NORTH, OTHER_MODEL, connected, waits_for_a_lock


def position(world: World) -> tuple[str | None, str]:
    with connected(world.url) as sql:
        rows = sql("SELECT epoch::text, position::text FROM mcp.index_positions")
    assert len(rows) == 1
    return rows[0][0], rows[0][1]


def test_the_position_is_kept_in_postgresql_so_that_a_new_process_reads_nothing_twice(shared: World) -> None:
    # GIVEN a server that one process has brought up to date
    shared.put("a")
    seen(shared.replica())
    epoch, before = position(shared)
    assert epoch is not None
    assert before != START
    shared.forget()
    shared.put("b")
    # WHEN another process starts
    assert seen(shared.replica()) == {"a": "", "b": ""}
    # THEN it reads what is new and nothing else
    assert shared.upserts == ["b"]
    assert position(shared)[1] != before


def test_what_a_writer_left_behind_between_commit_and_server_is_carried_over_by_the_next_search(
    shared: World,
) -> None:
    writer, searcher = shared.replica(), shared.replica()
    shared.put("a")
    seen(writer)
    seen(searcher)
    shared.put("b")  # and here the writer dies
    assert seen(searcher) == {"a": "", "b": ""}


def test_what_one_process_carried_over_another_does_not_write_again(shared: World) -> None:
    writer, searcher = shared.replica(), shared.replica()
    seen(writer)
    seen(searcher)
    shared.put("a")
    seen(writer)
    shared.forget()
    assert seen(searcher) == {"a": ""}
    assert len(shared.upserts) <= 1  # a transaction of the look itself may hold the position back
    shared.forget()
    seen(searcher)
    seen(writer)
    assert shared.upserts == []


def test_an_old_state_never_overwrites_a_newer_one(shared: World) -> None:
    slow, fast = shared.replica(), shared.replica()
    shared.put("a", "0")
    seen(slow)
    seen(fast)
    # GIVEN a process that has loaded a row and not written it yet
    shared.put("a", "1")
    loaded = Step()
    shared.feed.after_load = loaded
    first = threading.Thread(target=seen, args=(slow,))
    first.start()
    loaded.wait()
    # WHEN the row changes, and another process wants to write the newer one
    shared.put("a", "2")
    results: list[dict[str, str]] = []
    second = threading.Thread(target=lambda: results.append(seen(fast)))
    second.start()
    with connected(shared.url) as sql:
        while not waits_for_a_lock(sql):
            assert second.is_alive()
    # THEN it waits for its turn
    loaded.go_on()
    first.join()
    second.join()
    assert results == [{"a": "2"}]
    assert seen(slow) == {"a": "2"}


def test_a_server_that_failed_halfway_is_caught_up_by_whoever_comes_next(shared: World) -> None:
    first, second = shared.replica(), shared.replica()
    shared.put("a")
    seen(first)
    before = position(shared)
    shared.put("b")
    shared.indexes[0].fault = IndexUnavailable("timed out")
    with pytest.raises(IndexUnavailable, match="timed out"):
        seen(first)
    assert position(shared) == before
    assert seen(second) == {"a": "", "b": ""}
    shared.indexes[0].fault = None
    assert seen(first) == {"a": "", "b": ""}


def test_a_new_epoch_writes_all_anew_and_removes_what_should_not_be_there(shared: World) -> None:
    replica, other = shared.replica(), shared.replica()
    shared.put("a")
    seen(replica)
    seen(other)
    # GIVEN a stray record on the server, and one that is missing
    with replica.current() as index:
        payload = {"name": "stray", "description": "", "type": "tool", "server": "", "org_id": "", "skill_keys": []}
        index.upsert(TOOLS, [IndexRecord("999", EAST, "stray", payload)])
        index.delete(TOOLS, [str(shared.put("b"))])
    # WHEN
    shared.reindex()
    # THEN
    assert seen(replica) == {"a": "", "b": ""}
    shared.forget()
    assert seen(other) == {"a": "", "b": ""}
    assert shared.upserts.count("a") <= 1


def test_it_goes_on_answering_while_everything_is_written_anew(shared: World) -> None:
    replica = shared.replica()
    shared.put("a")
    seen(replica)
    other = shared.replica()
    seen(other)
    shared.reindex()
    shared.feeds[0].before_load_all = once(lambda: observed.append(shared.indexes[0].count(TOOLS)))
    observed: list[int] = []
    seen(replica)
    assert observed == [1]


class TestModels:
    def test_another_model_than_the_stored_one_is_refused_before_the_server_is_touched(self, shared: World) -> None:
        shared.put("a")
        shared.configured = OTHER_MODEL
        replica = shared.replica()
        with pytest.raises(EmbeddingModelMismatch, match=r"model test.*configured model is other"):
            seen(replica)
        assert shared.indexes == []

    def test_after_the_reindex_the_same_process_goes_on_with_vectors_of_the_new_one_only(self, shared: World) -> None:
        old, new = shared.replica(), shared.replica()
        shared.put("a")
        seen(old)
        shared.configured = OTHER_MODEL
        with pytest.raises(EmbeddingModelMismatch):
            seen(new)
        shared.connect()("UPDATE mcp.tools SET embedding = '\\x000000000000803f', embedding_model = 'other'")
        shared.reindex(OTHER_MODEL)
        with new.current() as index:
            assert [hit.score for hit in index.search(TOOLS, NORTH, where=ALL, limit=5)] == [1.0]
        shared.configured = MODEL
        with pytest.raises(EmbeddingModelMismatch):
            seen(old)

    def test_a_switch_between_two_looks_is_not_answered_for_the_old_model(self, shared: World) -> None:
        # GIVEN a process on the old model that found something to do
        replica = shared.replica()
        shared.put("a")
        seen(replica)
        shared.put("b")
        # WHEN the model is switched before it holds the position
        polls = shared.feed.polls

        def switch() -> None:
            if shared.feed.polls == polls + 1:
                shared.reindex(OTHER_MODEL)

        shared.feed.before_poll = switch
        # THEN
        with pytest.raises(EmbeddingModelMismatch):
            seen(replica)


def test_closing_closes_the_connection_to_the_server(shared: World) -> None:
    replica = shared.replica()
    seen(replica)
    replica.close()
    replica.close()
    assert [index.closed for index in shared.indexes] == [True]


class TestCollections:
    """Processes that open the collections of their model by name, as the composition root does."""

    def process(self, shared: World, server: QdrantIndex, model: EmbeddingModel) -> SharedReplica:
        def open_server(opened: EmbeddingModel) -> Opened:
            return Opened(opened, collections(server, opened), SharedPosition(shared.pool, prefix_of(opened)))

        return SharedReplica(shared.shared_replica()._feed, open_server, lambda: model)

    def test_those_that_were_dropped_are_filled_again_by_a_new_process(
        self, shared: World, qdrant: QdrantIndex
    ) -> None:
        # GIVEN a server that is up to date, whose collections somebody drops
        shared.put("a")
        assert seen(self.process(shared, qdrant, MODEL)) == {"a": ""}
        before = position(shared)
        for collection in Collection:
            qdrant._client.delete_collection(prefix_of(MODEL) + collection.value)
        # WHEN, THEN
        replica = self.process(shared, qdrant, MODEL)
        assert seen(replica) == {"a": ""}
        assert position(shared)[0] == before[0], "of the same epoch"
        # AND it is not filled again with each search
        loads: list[int] = []
        shared.feeds[-1].before_load_all = lambda: loads.append(1)
        shared.put("b")
        assert seen(replica) == {"a": "", "b": ""}
        assert loads == []

    def test_a_reindex_to_another_dimension_is_served_from_new_ones_and_leaves_the_old(
        self, shared: World, qdrant: QdrantIndex
    ) -> None:
        # GIVEN
        shared.put("a", vector=NORTH)
        seen(self.process(shared, qdrant, MODEL))
        # WHEN
        embedder = HashingEmbedder(4)
        Reindex(shared.database, embedder)()
        # THEN
        with self.process(shared, qdrant, embedder.model).current() as index:
            query = embedder.embed(["a"], timeout_s=1)[0]
            assert len(index.search(TOOLS, query, where=ALL, limit=5)) == 1
        old = collections(qdrant, MODEL)
        assert [hit.score for hit in old.search(TOOLS, NORTH, where=ALL, limit=5)] == [1.0]
        names = {prefix_of(m) + c.value for m in (MODEL, embedder.model) for c in (TOOLS,)}
        assert names <= {each.name for each in qdrant._client.get_collections().collections}


def prefix_of(model: EmbeddingModel) -> str:
    return f"{model.name}-{model.dimension}-"


def collections(server: QdrantIndex, model: EmbeddingModel) -> QdrantIndex:
    """Open a model's collections on the same server, as another process would."""
    return QdrantIndex(server._client, model.dimension, prefix=prefix_of(model))
