"""The embedded replica: shared looks, and new indexes made beside the one that answers."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillroute.core.documents.index.child_build import build_in_child
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.embedded_generation import Built
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.replica_files import ThrowawayEdgeIndex, new_replica_dir
from skillroute.core.documents.index.room import Room
from skillroute.core.documents.model import START
from skillroute.core.documents.reindex import Reindex
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import DatabaseUnavailable, IndexNoRoom, IndexUnavailable
from skillroute.core.postgres.address import Address
from skillroute.wiring.index import make_feed

from tests.doubles import LogRecords, once
from tests.integration.core.documents.index.replica_world import ALL, TOOLS, Step, World, content, seen
from tests.integration.rows import (
    EAST,
    MODEL,
    NORTH,
    OTHER_MODEL,
    insert_tool,
    put_document,
    put_documents,
    put_vectors,
)

MAKE_FEED = f"{make_feed.__module__}:{make_feed.__name__}"


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


class CountingClock:
    """Every reading is later than the one before; tells how many there were."""

    def __init__(self) -> None:
        self.readings = 0
        self._lock = threading.Lock()
        self.reached: dict[int, threading.Event] = {}

    def __call__(self) -> float:
        with self._lock:
            self.readings += 1
            event = self.reached.get(self.readings)
        if event is not None:
            event.set()
        return float(self.readings)


class TestNoRoom:
    """A disk that fills up under an index that is there."""

    @pytest.fixture
    def disk(self) -> dict[str, int]:
        return {"free": 2**40}

    @pytest.fixture
    def replica(self, embedded: World, disk: dict[str, int]) -> EmbeddedReplica:
        return embedded.embedded_replica(room=Room(None, free=lambda _: disk["free"]))

    def test_it_goes_on_without_what_is_new_and_catches_up_with_room(
        self, embedded: World, replica: EmbeddedReplica, disk: dict[str, int]
    ) -> None:
        embedded.put("a")
        assert seen(replica) == {"a": ""}
        disk["free"] = 0
        embedded.put("b")
        embedded.put("a", "changed")
        embedded.delete(embedded.put("never seen"))
        stale: list[None] = []
        for _ in range(2):
            with replica.current(lambda: stale.append(None)) as index:
                assert content(index) == {"a": ""}
        assert len(stale) == 2
        disk["free"] = 2**40
        assert seen(replica) == {"a": "changed", "b": ""}

    def test_it_does_not_answer_with_what_was_deleted(
        self, embedded: World, replica: EmbeddedReplica, disk: dict[str, int]
    ) -> None:
        gone = embedded.put("a")
        embedded.put("b")
        assert seen(replica) == {"a": "", "b": ""}
        disk["free"] = 0
        embedded.delete(gone)
        for _ in range(2):
            with pytest.raises(IndexNoRoom):
                seen(replica)
        # AND it is loaded once to see that, and nothing is written to a full disk
        loads = 0

        def count() -> None:
            nonlocal loads
            loads += 1

        embedded.feed.before_load = count
        with pytest.raises(IndexNoRoom):
            seen(replica)
        assert (loads, embedded.indexes[0].deletes) == (0, [])
        disk["free"] = 2**40
        assert seen(replica) == {"b": ""}


class TestSharedLooks:
    def test_searches_that_wait_together_share_one_look(self, embedded: World) -> None:
        # GIVEN a search that is looking at the feed, and three more that have begun and wait for it
        clock = CountingClock()
        replica = embedded.embedded_replica(clock=clock)
        embedded.put("a")
        seen(replica)
        before, waiting = embedded.feed.polls, threading.Event()
        clock.reached[clock.readings + 6] = waiting  # the first search reads the clock thrice, the others once
        look = Step()
        embedded.feed.before_poll = look
        results: list[dict[str, str]] = []
        threads = [threading.Thread(target=lambda: results.append(seen(replica))) for _ in range(4)]
        threads[0].start()
        look.wait()
        # WHEN something is written before they go on
        for thread in threads[1:]:
            thread.start()
        assert waiting.wait(10)
        embedded.put("b")
        look.go_on()
        for thread in threads:
            thread.join()
        # THEN the first looks once, and the three once between them
        assert results == [{"a": "", "b": ""}] * 4
        assert embedded.feed.polls - before == 2

    def test_searches_that_wait_together_share_a_failure(self, embedded: World) -> None:
        # GIVEN a search whose look hangs, and three more that have begun and wait for it
        clock = CountingClock()
        replica = embedded.embedded_replica(clock=clock)
        embedded.put("a")
        seen(replica)
        waiting, look = threading.Event(), Step()
        clock.reached[clock.readings + 6] = waiting  # the first search reads the clock thrice, the others once
        looks: list[int] = []

        def hang_and_fail() -> None:
            looks.append(1)
            look()
            raise DatabaseUnavailable("does not answer")

        embedded.feed.before_poll = hang_and_fail
        failures: list[str] = []

        def search() -> None:
            with pytest.raises(DatabaseUnavailable) as failed:
                seen(replica)
            failures.append(str(failed.value))

        threads = [threading.Thread(target=search) for _ in range(4)]
        threads[0].start()
        look.wait()
        for thread in threads[1:]:
            thread.start()
        assert waiting.wait(10)
        # WHEN it fails
        look.go_on()
        for thread in threads:
            thread.join()
        # THEN the three that began after it look once between them, and all are told
        assert failures == ["does not answer"] * 4
        assert len(looks) == 2
        # AND a search that begins later looks for itself
        embedded.feed.before_poll = lambda: None
        assert seen(replica) == {"a": ""}

    def test_a_look_that_began_before_a_search_does_not_serve_it(self, embedded: World) -> None:
        # GIVEN a look whose answer is there already
        replica = embedded.replica()
        seen(replica)
        answered = Step()
        real = embedded.feed.poll

        def poll_and_stop(position: str) -> object:
            page = real(position)
            answered()
            return page

        embedded.feed.poll = poll_and_stop  # type: ignore[method-assign, assignment]
        slow = threading.Thread(target=seen, args=(replica,))
        slow.start()
        answered.wait()
        # WHEN an item is written, and then a search begins
        embedded.put("a")
        results: list[dict[str, str]] = []
        search = threading.Thread(target=lambda: results.append(seen(replica)))
        search.start()
        answered.go_on()
        slow.join()
        search.join()
        # THEN it looks for itself
        assert results == [{"a": ""}]

    @settings(max_examples=settings.default.max_examples // 12)
    @given(seed=st.integers(0, 2**32))
    def test_a_search_sees_every_write_that_was_acknowledged_before_it_began(self, embedded: World, seed: int) -> None:
        replica = embedded.replica()
        acknowledged: dict[str, int] = {}
        gone: set[str] = set()
        lock, done = threading.Lock(), threading.Event()
        names, failures = itertools.count(), []
        run = f"{seed}-{len(embedded.feeds)}"

        def write(place: int) -> None:
            dice = random.Random(seed + place)
            mine: dict[str, int] = {}
            for version in range(1, 13):
                if dice.random() < 0.2 and len(mine) > 1:
                    name = dice.choice(sorted(mine))
                    with lock:  # from here on it may be gone
                        del acknowledged[name]
                    embedded.delete(mine.pop(name))
                    with lock:
                        gone.add(name)
                    continue
                name = dice.choice([*mine, f"{run}-{place}-{next(names)}"])
                mine[name] = embedded.put(name, str(version))
                with lock:
                    acknowledged[name] = version

        def search() -> None:
            while not done.is_set():
                with lock:
                    must, must_not = dict(acknowledged), set(gone)
                found = seen(replica)
                with lock:
                    still = set(acknowledged)
                missing = [n for n, v in must.items() if n in still and int(found.get(n, 0)) < v]
                if missing or must_not & set(found):
                    failures.append((missing, must_not & set(found)))
                    return

        writers = [threading.Thread(target=write, args=(place,)) for place in range(2)]
        searchers = [threading.Thread(target=search) for _ in range(2)]
        for thread in writers + searchers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        for thread in searchers:
            thread.join()
        assert failures == []
        assert {n: int(d) for n, d in seen(replica).items() if n.startswith(run)} == acknowledged


class TestBuilding:
    def test_the_first_search_reads_everything_with_its_vectors(self, embedded: World) -> None:
        east, north = embedded.put("a", vector=EAST), embedded.put("b", vector=NORTH)
        with embedded.replica().current() as index:
            hits = index.search(TOOLS, EAST, where=ALL, limit=5)
            assert [(hit.key, hit.score) for hit in hits] == [(str(east), 1.0), (str(north), 0.0)]

    def test_more_than_one_page_is_read(self, embedded: World) -> None:
        sql = embedded.connect()
        sql(
            "INSERT INTO mcp.tools (name, type, content_hash) "
            "SELECT 't' || n, 'tool', 'c' FROM generate_series(1, 1001) n"
        )
        put_documents(sql, TOOLS, range(1, 1002))
        replica = embedded.replica()
        assert len(seen(replica)) == 1001
        sql("UPDATE mcp.tools SET description = 'new'")
        assert set(seen(replica).values()) == {"new"}
        sql("DELETE FROM mcp.tools")
        assert seen(replica) == {}

    def test_a_build_that_fails_is_told_and_made_again_by_the_next_search(self, embedded: World) -> None:
        embedded.put("a")
        replica = embedded.replica()
        embedded.feed.after_load_all = once(lambda: fail(DatabaseUnavailable("gone")))
        with pytest.raises(DatabaseUnavailable, match="gone"):
            seen(replica)
        assert [index.closed for index in embedded.indexes] == [True]
        assert seen(replica) == {"a": ""}

    def test_a_build_whose_last_look_fails_does_not_leave_its_index_behind(self, embedded: World) -> None:
        embedded.put("a")
        replica = embedded.replica()
        embedded.feed.after_load_all = lambda: setattr(
            embedded.feed, "before_poll", once(lambda: fail(DatabaseUnavailable("gone")))
        )
        with pytest.raises(DatabaseUnavailable, match="gone"):
            seen(replica)
        assert [index.closed for index in embedded.indexes] == [True]

    def test_closing_closes_the_index(self, embedded: World) -> None:
        replica = embedded.replica()
        seen(replica)
        replica.close()
        assert [index.closed for index in embedded.indexes] == [True]
        assert not replica.status().ready

    def test_a_closed_one_is_not_opened_again_by_a_late_search(self, embedded: World) -> None:
        replica = embedded.replica()
        seen(replica)
        replica.close()
        polls = embedded.feed.polls
        with pytest.raises(IndexUnavailable, match="the index is closed"):
            seen(replica)
        assert (embedded.feed.polls, len(embedded.indexes)) == (polls, 1)


class TestRebuilding:
    def test_the_old_index_answers_with_new_writes_until_the_new_one_is_there(self, embedded: World) -> None:
        # GIVEN a reindex, and a rebuild that has only begun
        replica = embedded.embedded_replica()
        embedded.put("a")
        seen(replica)
        reading = Step()
        embedded.feed.before_load_all = reading
        embedded.reindex()
        seen(replica)
        reading.wait()
        assert replica.status().rebuilding
        # WHEN something is written meanwhile
        embedded.put("b")
        # THEN the old one has it
        with replica.current() as old:
            assert isinstance(old, GuardedIndex)
            assert old.inner is embedded.indexes[0]
            assert content(old) == {"a": "", "b": ""}
            # AND WHEN the new one is put in place while a search is still on the old one
            reading.go_on()
            replica.wait_for_rebuild()
            with replica.current() as new:
                assert isinstance(new, GuardedIndex)
                assert new.inner is embedded.indexes[1]
                assert content(new) == {"a": "", "b": ""}
            # THEN that search ends in peace, and only then the old one is closed
            assert content(old) == {"a": "", "b": ""}
            assert not embedded.indexes[0].closed
        assert [index.closed for index in embedded.indexes] == [True, False]
        assert not replica.status().rebuilding
        assert seen(replica) == {"a": "", "b": ""}
        assert len(embedded.indexes) == 2

    def test_what_is_written_between_reading_and_swapping_is_in_the_new_one(self, embedded: World) -> None:
        replica = embedded.embedded_replica()
        first = embedded.put("a")
        seen(replica)
        read = Step()
        embedded.feed.after_load_all = read
        embedded.reindex()
        seen(replica)
        read.wait()
        embedded.put("b")
        embedded.delete(first)
        assert seen(replica) == {"b": ""}
        read.go_on()
        replica.wait_for_rebuild()
        # THEN the new one has it before anybody looks again: a search that shares an earlier look gets it as it is
        assert content(embedded.indexes[1]) == {"b": ""}
        assert seen(replica) == {"b": ""}
        assert embedded.indexes[0].closed

    def test_a_transaction_that_is_open_all_through_a_rebuild_is_seen_when_it_commits(self, embedded: World) -> None:
        replica = embedded.embedded_replica()
        embedded.put("a", "old")
        seen(replica)
        slow = embedded.connect()
        slow("BEGIN")
        slow("UPDATE mcp.tools SET description = 'new'")
        embedded.reindex()
        assert seen(replica) == {"a": "old"}
        replica.wait_for_rebuild()
        assert seen(replica) == {"a": "old"}
        slow("COMMIT")
        assert seen(replica) == {"a": "new"}

    def test_a_rebuild_that_fails_leaves_the_old_one_and_is_logged_and_tried_again(
        self, embedded: World, log: LogRecords
    ) -> None:
        ticks, later_s = itertools.count(), [0.0]
        replica = embedded.embedded_replica(clock=lambda: next(ticks) / 1000 + later_s[0])
        embedded.put("a")
        seen(replica)
        embedded.make_fault = IndexUnavailable("no space left")
        embedded.reindex()
        assert seen(replica) == {"a": ""}
        replica.wait_for_rebuild()
        [record] = log.having("index rebuild failed")
        assert record.__dict__["reason"] == "no space left"
        assert seen(replica) == {"a": ""}
        replica.wait_for_rebuild()
        assert not embedded.indexes[0].closed
        embedded.make_fault = None
        seen(replica)
        assert len(embedded.indexes) == 1, "not again with every search"
        later_s[0] = 31.0
        seen(replica)
        replica.wait_for_rebuild()
        assert seen(replica) == {"a": ""}
        assert [index.closed for index in embedded.indexes] == [True, False]

    def test_a_database_that_was_restored_to_an_earlier_moment_is_read_anew(self, embedded: World) -> None:
        # GIVEN an index, and then other rows, of which the feed says nothing, at a lower position
        replica = embedded.embedded_replica()
        embedded.put("lost")
        seen(replica)
        sql = embedded.connect()
        sql("SET session_replication_role = 'replica'")
        sql("UPDATE mcp.tools SET name = 'restored'")
        sql("""UPDATE mcp.documents SET payload = payload || '{"name": "restored"}'""")

        assert replica._current is not None
        replica._current.position = "900000000:900000000:"
        # WHEN, THEN the very next search sees them, in an index of its own
        assert seen(replica) == {"restored": ""}
        assert [index.closed for index in embedded.indexes] == [True, False]
        # AND goes on with it
        assert seen(replica) == {"restored": ""}
        assert len(embedded.indexes) == 2

    @pytest.mark.parametrize("table", ["tools", "skill_categories", "tool_skill_assignments"])
    def test_truncating_starts_a_new_epoch(self, embedded: World, table: str) -> None:
        replica = embedded.embedded_replica()
        embedded.put("a")
        seen(replica)
        before = embedded.feed.poll(START).epoch
        # WHEN
        embedded.connect()(f"TRUNCATE mcp.{table} CASCADE")
        # THEN everything is read anew
        assert embedded.feed.poll(START).epoch != before
        seen(replica)
        replica.wait_for_rebuild()
        assert seen(replica) == ({} if table == "tools" else {"a": ""})
        assert [index.closed for index in embedded.indexes] == [True, False]

    def test_changes_of_few_items_start_no_build_in_a_child(self, embedded: World) -> None:
        # GIVEN more changes than the threshold, of fewer items
        def build(model: EmbeddingModel) -> Built:
            raise AssertionError("a small index needs no graph")

        replica = embedded.embedded_replica(make_optimised=build, optimise_above=3)
        # WHEN
        for version in range(8):
            embedded.put("a", str(version))
            embedded.put("b", str(version))
            assert seen(replica) == {"a": str(version), "b": str(version)}
        # THEN
        assert not replica._building.is_under_way
        # AND a reindex builds beside it in this process
        embedded.reindex()
        seen(replica)
        replica.wait_for_rebuild()
        assert seen(replica) == {"a": "7", "b": "7"}
        assert [index.closed for index in embedded.indexes] == [True, False]

    def test_the_folder_of_an_index_goes_with_it(self, embedded: World, replica_dir: Path) -> None:
        def make(model: EmbeddingModel) -> ThrowawayEdgeIndex:
            return ThrowawayEdgeIndex(new_replica_dir(replica_dir), model.dimension)

        replica = EmbeddedReplica(embedded.embedded_replica()._feed, make, lambda: MODEL)
        embedded.put("a")
        seen(replica)
        [first] = replica_dir.iterdir()
        embedded.reindex()
        seen(replica)
        replica.wait_for_rebuild()
        seen(replica)
        [second] = replica_dir.iterdir()
        assert first != second
        replica.close()
        assert list(replica_dir.iterdir()) == []


class TestModels:
    """A change of model (decision 37, docs/adr/0035)."""

    def test_who_is_configured_for_another_model_searches_the_stored_vectors_and_says_of_which_they_are(
        self, embedded: World, log: LogRecords
    ) -> None:
        embedded.put("a")
        embedded.configured = EmbeddingModel("new", 3)
        with embedded.replica().current() as index:
            assert index.model == MODEL
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0]
        [record] = log.having("index.schema.mismatch")
        assert record.__dict__["expected"] == "new (3 dimensions)"

    def test_a_process_on_the_new_model_goes_over_to_it_by_itself_after_the_reindex(self, embedded: World) -> None:
        # GIVEN an index of the old model, and another one configured
        replica = embedded.embedded_replica()
        embedded.put("a")
        embedder = HashingEmbedder(4)
        embedded.configured = embedder.model
        seen(replica)
        # WHEN the reindex has run
        Reindex(embedded.database, embedder)()
        # THEN the next search is still answered with the old vectors, and one soon after with the new ones
        with replica.current() as index:
            assert index.model == MODEL
            assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) == 1
        replica.wait_for_rebuild()
        with replica.current() as index:
            assert index.model == embedder.model
            query = embedder.embed(["a"], timeout_s=1)[0]
            assert len(index.search(TOOLS, query, where=ALL, limit=5)) == 1
            assert {len(vector) for vector in embedded.indexes[-1].vectors} == {4}
        assert [index.closed for index in embedded.indexes] == [True, False]

    def test_one_on_the_old_model_goes_on_searching_its_vectors_and_sees_what_is_written(self, embedded: World) -> None:
        replica = embedded.embedded_replica()
        embedded.put("a")
        seen(replica)
        put_vectors(embedded.connect(), OTHER_MODEL, NORTH)
        embedded.reindex(OTHER_MODEL)
        embedded.put("b")
        for _ in range(2):  # the second time from an index that was built after the switch
            with replica.current() as index:
                assert index.model == MODEL
                assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) == 2
            replica.wait_for_rebuild()

    def test_it_goes_over_to_the_current_one_once_its_own_is_retired(self, embedded: World) -> None:
        replica = embedded.replica()
        embedded.put("a")
        seen(replica)
        put_vectors(embedded.connect(), OTHER_MODEL, NORTH)
        embedded.reindex(OTHER_MODEL, is_retired=True)
        with replica.current() as index:
            assert index.model == OTHER_MODEL
            assert [hit.score for hit in index.search(TOOLS, NORTH, where=ALL, limit=5)] == [1.0]

    def test_a_vector_of_another_model_is_not_in_the_index(self, embedded: World) -> None:
        embedded.put("mine")
        sql = embedded.connect()
        put_document(sql, TOOLS, str(insert_tool(sql, "theirs")), "foreign")
        put_vectors(sql, OTHER_MODEL, EAST)
        with embedded.replica().current() as index:
            assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) == 1
            assert len(index.search_text(TOOLS, "foreign", where=ALL, limit=5)) == 1

    @pytest.mark.parametrize("moment", ["before_load", "before_load_all"])
    def test_a_reindex_between_looking_and_loading_does_not_mix_two_models(self, embedded: World, moment: str) -> None:
        # GIVEN a replica that follows whatever model is stored
        embedded.configured = None
        for name in "abc":
            embedded.put(name)
        replica = embedded.embedded_replica()
        if moment == "before_load":
            seen(replica)
            embedded.put("d")
        sql = embedded.connect()

        def switch() -> None:
            put_vectors(sql, OTHER_MODEL, NORTH)
            embedded.reindex(OTHER_MODEL)

        # WHEN the model is switched after it has looked, and before it has loaded
        setattr(embedded.feed, moment, once(switch))
        for model, vector in ((MODEL, EAST), (OTHER_MODEL, NORTH)):
            with replica.current() as index:
                # THEN the index that it lends has vectors of one model only, the one that it says
                assert index.model == model
                assert {hit.score for hit in index.search(TOOLS, vector, where=ALL, limit=9)} == {1.0}
                assert set(embedded.indexes[-1].vectors) == {tuple(vector)}
            with replica.current():
                pass  # sees that the model was switched
            replica.wait_for_rebuild()
        assert all(index.closed for index in embedded.indexes[:-1])

    def test_before_anything_is_embedded_items_are_found_by_their_words(self, embedded: World) -> None:
        embedded.configured = None
        sql = embedded.connect()
        put_document(sql, TOOLS, str(insert_tool(sql, "a")), "weather")
        replica = embedded.replica()
        with replica.current() as index:
            assert len(index.search_text(TOOLS, "weather", where=ALL, limit=5)) == 1
        # AND once a vector is there, by it
        embedded.put("b")
        with replica.current() as index:
            assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) == 1


class TestChildBuild:
    def test_a_child_builds_and_the_replica_catches_up_with_what_changed_meanwhile(
        self, embedded: World, replica_dir: Path
    ) -> None:
        first = embedded.put("a", "old")
        built: list[Built] = []

        def build(model: EmbeddingModel) -> Built:
            built.append(build_in_child(Address.parse(embedded.url), replica_dir, model, make_feed=MAKE_FEED))
            embedded.put("a", "new")
            embedded.put("b")
            return built[-1]

        replica = embedded.embedded_replica(make_optimised=build, optimise_above=1)
        assert seen(replica) == {"a": "old"}
        replica.wait_for_rebuild()
        with replica.current() as index:
            assert isinstance(index, GuardedIndex)
            assert index.inner is built[0].index
            assert content(index) == {"a": "new", "b": ""}
            assert index.search(TOOLS, EAST, where=ALL, limit=1)[0].key == str(first)
        replica.wait_for_rebuild()

    def test_a_child_that_fails_says_why_and_leaves_no_folder(self, replica_dir: Path) -> None:
        with pytest.raises(IndexUnavailable, match=r"failed: .*DatabaseUnavailable.*cannot be reached"):
            build_in_child(
                Address.parse("postgresql://u:secret@127.0.0.1:1/db"), replica_dir, MODEL, make_feed=MAKE_FEED
            )
        assert list(replica_dir.iterdir()) == []


class TestFolders:
    def test_a_folder_is_named_after_its_process_and_new_each_time(self, replica_dir: Path) -> None:
        first, second = new_replica_dir(replica_dir), new_replica_dir(replica_dir)
        assert first != second
        assert all(path.name.startswith(f"replica-{os.getpid()}-") for path in (first, second))

    def test_what_a_killed_process_left_is_told_apart_by_its_number(self, replica_dir: Path) -> None:
        code = (
            "import os, signal, sys; from pathlib import Path; "
            "from skillroute.core.documents.index.replica_files import new_replica_dir; "
            "new_replica_dir(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
        )
        child = subprocess.Popen([sys.executable, "-c", code, str(replica_dir)])
        child.wait()
        mine = new_replica_dir(replica_dir)
        left = [path for path in replica_dir.iterdir() if path != mine]
        assert [path.name for path in left] == [f"replica-{child.pid}-0"]

    def test_a_folder_left_by_a_process_of_the_same_number_is_not_used(self, replica_dir: Path) -> None:
        # GIVEN what a container's process number 1 leaves when it is killed and starts again
        last = int(new_replica_dir(replica_dir).name.rsplit("-", 1)[1])
        stale = replica_dir / f"replica-{os.getpid()}-{last + 1}"
        stale.mkdir()
        # WHEN, THEN
        assert new_replica_dir(replica_dir).name == f"replica-{os.getpid()}-{last + 2}"

    def test_without_a_place_of_its_own_it_is_a_temporary_folder(self) -> None:
        first = new_replica_dir(None)
        assert first.is_dir()
        first.rmdir()


def fail(error: Exception) -> None:
    raise error
