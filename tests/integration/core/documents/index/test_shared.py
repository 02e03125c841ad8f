"""The server that all processes share: filled beside the searches, page by page, by whoever has the time (ADR 34)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from skillroute.core.documents.collection import collections
from skillroute.core.documents.index import shared as module
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.documents.index.shared import SharedReplica
from skillroute.core.documents.reindex import Reindex
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import IndexNotReady, IndexUnavailable
from skillroute.core.observability import Metric, counts

from tests.doubles import LogRecords, once
from tests.integration.core.documents.index.replica_world import ALL, TOOLS, Step, World, content, seen
from tests.integration.rows import EAST, MODEL, NORTH, OTHER_MODEL, Sql, connected, put_documents, put_vectors

SOON_S = 20.0


@pytest.fixture
def sql(shared: World) -> Iterator[Sql]:
    with connected(shared.url) as connection:
        yield connection


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes are carried over one at a time."""
    monkeypatch.setattr(module, "_PAGE", 1)


def generations(sql: Sql) -> list[list[object]]:
    return sql("SELECT generation, model, ready_at IS NOT NULL FROM mcp.index_generations ORDER BY 1")


def names(server: QdrantIndex) -> set[str]:
    return {each.name for each in server._client.get_collections().collections}


def searched(replica: SharedReplica) -> tuple[dict[str, str], bool]:
    """Search; return what there is, and whether the answer is marked as stale."""
    stale: list[bool] = []
    with replica.current(lambda: stale.append(True)) as index:
        return content(index), bool(stale)


class TestSearches:
    def test_without_a_whole_generation_they_do_without_and_fill_nothing(self, shared: World) -> None:
        shared.put("a")
        search = shared.shared_search()
        assert search.is_ready  # so that nobody begins to build one
        with pytest.raises(IndexNotReady, match="being filled"):
            searched(search)
        assert shared.indexes == []
        assert (search.status().ready, search.status().counts, search.status().lag > 0) == (False, {}, True)

    def test_they_see_what_a_writer_carried_over_after_its_commit(self, shared: World) -> None:
        writer, search = shared.shared_writer(), shared.shared_search()
        shared.put("a")
        writer.catch_up(SOON_S)
        assert searched(search) == ({"a": ""}, False)
        shared.put("a", "new")
        writer.catch_up(SOON_S)
        assert searched(search) == ({"a": "new"}, False)

    def test_what_a_writer_left_behind_marks_their_answers_as_stale_and_is_counted(self, shared: World) -> None:
        writer, search = shared.shared_writer(), shared.shared_search()
        shared.put("a")
        writer.catch_up(SOON_S)
        shared.put("b")  # and here the writer dies
        before = counts().get(Metric.INDEX_STALE, 0)
        with LogRecords().attached() as log:
            assert searched(search) == ({"a": ""}, True)
        assert len(log.having("index.stale")) == 1
        assert counts()[Metric.INDEX_STALE] - before == 1
        assert (search.status().stale, search.status().lag) == (True, 1)
        # AND the next writer, or the relay, carries it over
        shared.shared_writer().catch_up(SOON_S)
        assert searched(search) == ({"a": "", "b": ""}, False)

    def test_a_transaction_that_is_open_marks_nothing_as_stale_until_it_commits(self, shared: World) -> None:
        writer, search = shared.shared_writer(), shared.shared_search()
        shared.put("a", "old")
        slow = shared.connect()
        slow("BEGIN")
        slow("UPDATE mcp.tools SET description = 'new'")
        writer.catch_up(SOON_S)
        shared.put("b")
        writer.catch_up(SOON_S)
        assert searched(search) == ({"a": "old", "b": ""}, False)
        slow("COMMIT")
        assert searched(search) == ({"a": "old", "b": ""}, True)
        writer.catch_up(SOON_S)
        assert searched(search) == ({"a": "new", "b": ""}, False)

    def test_collections_that_were_dropped_are_an_outage_and_not_an_empty_answer(
        self, shared: World, qdrant: QdrantIndex
    ) -> None:
        writer = shared.shared_writer()
        shared.put("a")
        writer.catch_up(SOON_S)
        for name in names(qdrant):
            qdrant._client.delete_collection(name)
        shared.restart()
        with pytest.raises(IndexUnavailable, match="not on the server"):
            searched(shared.shared_search())
        # AND the relay, which looks, has another one filled
        shared.shared_writer().catch_up(SOON_S, check=True)
        assert searched(shared.shared_search()) == ({"a": ""}, False)


class TestCatchingUp:
    def test_a_new_process_goes_on_where_others_are(self, shared: World) -> None:
        shared.put("a")
        shared.shared_writer().catch_up(SOON_S)
        shared.forget()
        shared.put("b")
        shared.shared_writer().catch_up(SOON_S)
        assert shared.upserts == ["b"]

    def test_who_finds_another_at_it_waits_for_nothing(self, shared: World) -> None:
        slow, fast = shared.shared_writer(), shared.shared_writer()
        shared.put("a", "0")
        slow.catch_up(SOON_S)
        # GIVEN a process that has loaded a row and not written it yet
        shared.put("a", "1")
        loaded = Step()
        shared.feeds[0].after_load = loaded
        first = threading.Thread(target=slow.catch_up, args=(SOON_S,))
        first.start()
        loaded.wait()
        # WHEN the row changes, and another process comes with the newer one
        shared.put("a", "2")
        fast.catch_up(SOON_S)
        assert searched(shared.shared_search()) == ({"a": "0"}, True)
        # THEN the first does its work as well
        loaded.go_on()
        first.join()
        assert searched(shared.shared_search()) == ({"a": "2"}, False)

    def test_a_server_that_failed_halfway_is_caught_up_by_whoever_comes_next(self, shared: World, sql: Sql) -> None:
        first, second = shared.shared_writer(), shared.shared_writer()
        shared.put("a")
        first.catch_up(SOON_S)
        before = sql("SELECT seen::text FROM mcp.index_generations")
        shared.put("b")
        written = shared.indexes[-1]
        written.fault = IndexUnavailable("timed out")
        with pytest.raises(IndexUnavailable, match="timed out"):
            first.catch_up(SOON_S)
        assert sql("SELECT seen::text FROM mcp.index_generations") == before
        written.fault = None
        second.catch_up(SOON_S)
        assert searched(shared.shared_search()) == ({"a": "", "b": ""}, False)

    @pytest.mark.usefixtures("small_pages")
    def test_many_changes_are_carried_over_a_page_at_a_time_from_where_a_killed_process_was(
        self, shared: World, sql: Sql
    ) -> None:
        gone = shared.put("gone")
        shared.shared_writer().catch_up(SOON_S)
        for name in "abc":
            shared.put(name)
        shared.delete(gone)
        shared.forget()
        # WHEN each process gets no further than a page
        looks = 0
        while searched(shared.shared_search())[1]:
            shared.shared_writer().catch_up(0)
            looks += 1
            shared.put("c", str(looks)) if looks == 2 else None
        # THEN nothing is written twice but what has changed meanwhile
        assert searched(shared.shared_search()) == ({"a": "", "b": "", "c": "2"}, False)
        assert shared.upserts.count("a") == shared.upserts.count("b") == 1

    def test_a_collection_of_a_later_version_is_passed_over(self, shared: World, sql: Sql) -> None:
        shared.put("a")
        shared.shared_writer().catch_up(SOON_S)
        sql("INSERT INTO mcp.index_changes (collection, item_id) VALUES ('mcp_of_tomorrow', '1')")
        shared.shared_writer().catch_up(SOON_S)
        assert searched(shared.shared_search()) == ({"a": ""}, False)


class TestGenerations:
    def test_a_new_epoch_is_filled_beside_the_one_that_is_searched_and_followed(self, shared: World, sql: Sql) -> None:
        writer, search = shared.shared_writer(), shared.shared_search()
        shared.put("a")
        writer.catch_up(SOON_S)
        shared.reindex()
        # WHEN it is filled a page at a time, and something is written meanwhile
        writer.catch_up(0)
        assert generations(sql) == [[1, "test", True], [2, "test", False]]
        assert search.status().rebuilding
        shared.put("b")
        writer.catch_up(0)
        # THEN the old one has it; that the new one is not there yet shows
        assert searched(search) == ({"a": "", "b": ""}, True)
        writer.catch_up(SOON_S)
        assert searched(search) == ({"a": "", "b": ""}, False)
        assert generations(sql) == [[1, "test", True], [2, "test", True]]
        assert not search.status().rebuilding

    def test_one_whose_texts_an_older_version_cut_into_words_is_filled_anew_once(self, shared: World, sql: Sql) -> None:
        writer = shared.shared_writer()
        shared.put("a")
        writer.catch_up(SOON_S)
        sql("UPDATE mcp.index_generations SET cut = 1")
        writer.catch_up(0)
        assert searched(shared.shared_search())[0] == {"a": ""}  # meanwhile the old one is searched
        for _ in range(2):
            writer.catch_up(SOON_S)
            assert generations(sql) == [[1, "test", True], [2, "test", True]]
        # A version to come, beside which this one goes on.
        sql("UPDATE mcp.index_generations SET cut = 99")
        shared.put("b")
        writer.catch_up(SOON_S)
        assert len(generations(sql)) == 2
        assert searched(shared.shared_search()) == ({"a": "", "b": ""}, False)

    def test_what_is_written_and_deleted_while_it_is_filled_is_there_in_the_end(self, shared: World) -> None:
        writer = shared.shared_writer()
        gone = shared.put("gone")
        shared.put("a", "old")

        def meanwhile() -> None:
            shared.delete(gone)
            shared.put("a", "new")
            shared.put("b")

        shared.feeds[0].after_load_all = once(meanwhile)
        writer.catch_up(SOON_S)
        assert searched(shared.shared_search()) == ({"a": "new", "b": ""}, False)

    def test_the_old_one_is_dropped_when_the_new_one_has_been_ready_for_a_while(
        self, shared: World, sql: Sql, qdrant: QdrantIndex
    ) -> None:
        writer = shared.shared_writer()
        shared.put("a")
        writer.catch_up(SOON_S)
        shared.reindex()
        writer.catch_up(SOON_S)
        writer.catch_up(SOON_S)
        assert len(names(qdrant)) == 2 * len(collections())
        sql("UPDATE mcp.index_generations SET ready_at = ready_at - interval '11 minutes'")
        shared.put("b")
        writer.catch_up(SOON_S)
        assert generations(sql) == [[2, "test", True]]
        assert names(qdrant) == {f"test-2-2-{each.value}" for each in collections()}
        assert searched(shared.shared_search()) == ({"a": "", "b": ""}, False)

    def test_one_that_cannot_be_followed_any_more_is_filled_anew(self, shared: World, sql: Sql) -> None:
        shared.put("a")
        shared.shared_writer().catch_up(SOON_S)
        sql("UPDATE mcp.index_generations SET seen = '900000000:900000000:'")  # of a moment that was undone
        search = shared.shared_search()
        assert searched(search) == ({"a": ""}, True)
        shared.shared_writer().catch_up(SOON_S)
        assert searched(search) == ({"a": ""}, False)
        assert [number for number, _, is_ready in generations(sql) if is_ready] == [1, 2]

    def test_every_page_of_a_filling_is_kept_when_the_process_is_killed(self, shared: World, sql: Sql) -> None:
        sql(
            "INSERT INTO mcp.tools (name, type, content_hash) "
            "SELECT 't' || n, 'tool', 'c' FROM generate_series(1, 1200) n"
        )
        put_documents(sql, TOOLS, range(1, 1201))
        # WHEN each process gets no further than a page
        for _ in range(40):
            shared.shared_writer().catch_up(0)
        # THEN each record was written once
        assert len(shared.upserts) == len(set(shared.upserts)) == 1200
        assert len(searched(shared.shared_search())[0]) == 1200

    def test_events_tell_of_the_filling_and_of_what_follows(self, shared: World) -> None:
        with LogRecords().attached() as log:
            shared.put("a")
            writer = shared.shared_writer()
            writer.catch_up(SOON_S)
            shared.put("b")
            writer.catch_up(SOON_S)
        assert [record.__dict__["doc_count"] for record in log.having("index.rebuild.start")] == [1]
        [complete] = log.having("index.rebuild.complete")
        assert complete.__dict__["doc_count"] == 1
        assert complete.__dict__["duration_ms"] >= 0
        assert [record.__dict__["batch_size"] for record in log.having("index.incremental.batch")] == [1]


class TestModels:
    """A change of model (decision 37, docs/adr/0035)."""

    def test_who_is_configured_for_another_model_searches_what_is_there_and_says_of_which_model_it_is(
        self, shared: World
    ) -> None:
        shared.put("a")
        seen(shared.replica())
        shared.configured = OTHER_MODEL
        with shared.shared_search().current() as index:
            assert index.model == MODEL
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0]

    def test_after_a_reindex_each_process_searches_the_vectors_of_its_own_model(self, shared: World, sql: Sql) -> None:
        old, new = shared.replica(), shared.replica()
        shared.put("a")
        seen(old)
        shared.configured = OTHER_MODEL
        put_vectors(shared.connect(), OTHER_MODEL, NORTH)
        shared.reindex(OTHER_MODEL)
        with new.current() as index:
            assert index.model == OTHER_MODEL
            assert [hit.score for hit in index.search(TOOLS, NORTH, where=ALL, limit=5)] == [1.0]
        shared.configured = MODEL
        shared.put("b")
        with old.current() as index:
            assert index.model == MODEL
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0, 1.0]
        # AND neither takes the other's collections away
        sql("UPDATE mcp.index_generations SET ready_at = now() - interval '1 hour'")
        for shared.configured in (OTHER_MODEL, MODEL):
            shared.shared_writer().catch_up(SOON_S)
        kept = "SELECT DISTINCT model FROM mcp.index_generations WHERE ready_at IS NOT NULL ORDER BY model"
        assert sql(kept) == [[OTHER_MODEL.name], [MODEL.name]]

    def test_the_collections_of_a_model_that_is_out_of_use_go(self, shared: World, sql: Sql) -> None:
        shared.put("a")
        seen(shared.replica())
        put_vectors(shared.connect(), OTHER_MODEL, NORTH)
        shared.reindex(OTHER_MODEL, is_retired=True)
        shared.configured = OTHER_MODEL
        shared.shared_writer().catch_up(SOON_S)
        sql("UPDATE mcp.index_generations SET ready_at = now() - interval '1 hour'")
        shared.shared_writer().catch_up(SOON_S)
        assert sql("SELECT DISTINCT model FROM mcp.index_generations") == [[OTHER_MODEL.name]]

    def test_a_page_that_was_loaded_across_a_switch_of_models_has_vectors_of_its_own(self, shared: World) -> None:
        # GIVEN a process that follows whatever model is stored
        shared.configured = None
        shared.put("a")
        writer = shared.shared_writer()
        writer.catch_up(SOON_S)
        shared.put("b")
        sql = shared.connect()

        def switch() -> None:
            put_vectors(sql, OTHER_MODEL, NORTH)
            shared.reindex(OTHER_MODEL)

        # WHEN the model is switched between its look and its loading
        shared.feeds[0].before_load = once(switch)
        writer.catch_up(0)
        # THEN what is searched is of the model that it was filled for
        with shared.shared_search().current() as index:
            assert index.model == MODEL
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0, 1.0]

    def test_until_the_new_collections_are_filled_the_old_ones_are_searched(self, shared: World) -> None:
        shared.put("a", vector=NORTH)
        seen(shared.replica())
        embedder = HashingEmbedder(4)
        Reindex(shared.database, embedder)()
        shared.configured = embedder.model
        with shared.shared_search().current() as index:
            assert index.model == MODEL
            assert len(index.search(TOOLS, NORTH, where=ALL, limit=5)) == 1
        with shared.replica().current() as index:
            assert index.model == embedder.model
            query = embedder.embed(["a"], timeout_s=1)[0]
            assert len(index.search(TOOLS, query, where=ALL, limit=5)) == 1


def test_closing_closes_the_connection_to_the_server(shared: World) -> None:
    writer = shared.shared_writer()
    writer.catch_up(SOON_S)
    writer.close()
    writer.close()
    assert [index.closes for index in shared.indexes] == [1, 1]
