"""An embedded index whose engine keeps failing: it is given up, and another is built beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.errors.model import DatabaseUnavailable, IndexTimeout, IndexUnavailable
from skillroute.core.observability import Metric, counts

from tests.doubles import LogRecords
from tests.integration.core.documents.index.replica_world import ALL, TOOLS, World, seen
from tests.integration.rows import EAST


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


@pytest.fixture
def replica(embedded: World) -> EmbeddedReplica:
    """A replica of one item."""
    embedded.put("a")
    replica = embedded.embedded_replica()
    seen(replica)
    return replica


def search(replica: EmbeddedReplica) -> int:
    with replica.current() as index:
        return len(index.search(TOOLS, EAST, where=ALL, limit=5))


def fail(replica: EmbeddedReplica, times: int, error: type[Exception] = IndexUnavailable) -> None:
    for _ in range(times):
        with pytest.raises(error):
            search(replica)


def test_an_engine_that_takes_no_writes_three_times_in_a_row_is_replaced(
    embedded: World, replica: EmbeddedReplica, log: LogRecords
) -> None:
    before = counts().get(Metric.INDEX_GIVEN_UP, 0)
    embedded.indexes[0].fault = IndexUnavailable("a segment is damaged")
    embedded.put("b")
    # WHEN every attempt to carry the change over fails, so does the search; it does not answer without it
    fail(replica, 3)
    # THEN another index is built
    replica.wait_for_rebuild()
    assert seen(replica) == {"a": "", "b": ""}
    assert [index.closed for index in embedded.indexes] == [True, False]
    # AND the log and a metric say why, once
    [record] = log.having("index.given_up")
    assert record.__dict__["reason"] == "a segment is damaged"
    assert counts()[Metric.INDEX_GIVEN_UP] - before == 1


def test_an_engine_that_answers_no_search_three_times_in_a_row_is_replaced(
    embedded: World, replica: EmbeddedReplica
) -> None:
    embedded.indexes[0].search_fault = IndexUnavailable("a panic")
    fail(replica, 3)
    # Changes that it still takes do not make it a sound one.
    embedded.put("b")
    seen(replica)
    replica.wait_for_rebuild()
    assert search(replica) == 2
    assert [index.closed for index in embedded.indexes] == [True, False]


READS: dict[str, Callable[[LentIndex], object]] = {
    "match": lambda index: index.match(TOOLS, where=ALL, limit=5),
    "payloads": lambda index: index.payloads(TOOLS, ["2"]),  # those of "1" are remembered
    "count": lambda index: index.count(TOOLS, where=ALL),
}


@pytest.mark.parametrize("name", READS)
def test_an_engine_that_searches_but_cannot_read_is_replaced(
    embedded: World, replica: EmbeddedReplica, name: str
) -> None:
    embedded.put("b")
    assert search(replica) == 2
    embedded.indexes[0].read_faults[name] = IndexUnavailable("a payload cannot be read")
    for _ in range(3):
        assert search(replica) == 2
        with replica.current() as index, pytest.raises(IndexUnavailable):
            READS[name](index)
    search(replica)
    replica.wait_for_rebuild()
    with replica.current() as index:
        assert READS[name](index)
    assert [index.closed for index in embedded.indexes] == [True, False]


def test_two_failures_and_a_success_begin_anew(embedded: World, replica: EmbeddedReplica) -> None:
    for _ in range(2):
        embedded.indexes[0].search_fault = IndexUnavailable("a panic")
        fail(replica, 2)
        embedded.indexes[0].search_fault = None
        assert search(replica) == 1
    seen(replica)
    assert len(embedded.indexes) == 1
    assert not replica.status().rebuilding


def test_neither_a_deadline_nor_the_database_is_a_failure_of_the_engine(
    embedded: World, replica: EmbeddedReplica
) -> None:
    embedded.indexes[0].search_fault = IndexTimeout("too slow")
    fail(replica, 5, IndexTimeout)

    def down() -> None:
        raise DatabaseUnavailable("gone")

    embedded.feed.before_poll = down
    fail(replica, 5, DatabaseUnavailable)
    embedded.feed.before_poll = lambda: None
    embedded.indexes[0].search_fault = None
    assert search(replica) == 1
    assert len(embedded.indexes) == 1


def test_while_no_other_can_be_built_searches_go_on_failing_and_building_is_tried_now_and_then(
    embedded: World, log: LogRecords
) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 0.001
        return now[0]

    replica = embedded.embedded_replica(clock=clock)
    embedded.put("a")
    seen(replica)
    embedded.indexes[0].search_fault = IndexUnavailable("a panic")
    embedded.make_fault = IndexUnavailable("no space left")
    fail(replica, 6)
    replica.wait_for_rebuild()
    fail(replica, 3)
    assert len(log.having("index rebuild failed")) == 1
    # WHEN there is room again, and half a minute has passed
    embedded.make_fault = None
    now[0] += 31
    fail(replica, 1)
    replica.wait_for_rebuild()
    assert search(replica) == 1
    assert len(log.having("index.given_up")) == 1


def test_a_broken_engine_that_cannot_even_be_closed_is_let_go_of(
    embedded: World, replica: EmbeddedReplica, log: LogRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = embedded.indexes[0]

    def cannot() -> None:
        type(first).close(first)
        raise IndexUnavailable("not even that")

    monkeypatch.setattr(first, "close", cannot)
    first.search_fault = IndexUnavailable("a panic")
    fail(replica, 3)
    seen(replica)
    replica.wait_for_rebuild()
    assert search(replica) == 1
    assert log.having("index rebuild failed") == []
