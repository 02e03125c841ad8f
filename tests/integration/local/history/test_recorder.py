"""The recorder, with a clock that is given: what was counted since, over failures, sleep and an end."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from skillroute_local.history.figures import Counts, Waiting, percentile
from skillroute_local.history.recorder import EachMinute, Recorder, queued_in, waiting_in
from skillroute_local.history.ring import MINUTE_S, HistoryFile

from tests.builders import System, lent_system
from tests.component.core.queue.clocked import Clocked
from tests.doubles import EdgeIndexes

AT = 1_800_000_000 // 60 * 60


class Process:
    """A process that counts, and whose clocks are set by hand."""

    def __init__(self, path: Path) -> None:
        self.file = HistoryFile(path)
        self.counts: dict[str, float] = {"Search": 100.0, "ItemsWritten": 7.0}  # from before
        self.times: list[float] = [999.0]
        self.waiting = Waiting(0, 0, 0, 0)
        self.now, self.clock = AT + 0.0, 5_000.0

    def take(self) -> list[float]:
        taken, self.times = self.times, []
        return taken

    def recorder(self) -> Recorder:
        return Recorder(
            self.file, lambda: self.waiting, counts=lambda: self.counts, times=self.take,
            now=lambda: self.now, clock=lambda: self.clock,
        )  # fmt: skip

    def passes(self, seconds: float, asleep_s: float = 0.0) -> None:
        self.clock += seconds
        self.now += seconds + asleep_s

    def count(self, **more: float) -> None:
        self.counts = self.counts | {name: self.counts.get(name, 0.0) + value for name, value in more.items()}


@pytest.fixture
def process(tmp_path: Path) -> Process:
    return Process(tmp_path / "history.sqlite")


def test_a_row_has_what_was_counted_since_the_last_one(process: Process) -> None:
    recorder = process.recorder()
    process.count(Search=6, SearchEmpty=2, SearchDegraded=1, SearchRefused=3, ItemsWritten=4, SkillsWritten=1)
    process.count(MailFailed=1, SearchFailed=1)
    process.times += [10.0] * 5 + [80.0]
    process.waiting = Waiting(1, 2, 3, 4)
    process.passes(60.01)
    recorder.step()
    process.count(Search=1)
    process.passes(60.0)
    recorder.step()

    first, second = process.file.read(AT, AT + 120, MINUTE_S)
    assert (first.at, first.waiting) == (AT, Waiting(1, 2, 3, 4))
    assert first.counts == Counts(6, 2, 1, 3, 1, 5, 1)
    assert percentile(first.times, 50) == pytest.approx(10.0, rel=0.03)
    assert sum(first.times.values()) == 6  # none of before
    assert (second.at, second.counts) == (AT + 60, Counts(searches=1))


def test_a_machine_that_slept_leaves_a_gap_and_counts_no_time_for_it(process: Process) -> None:
    recorder = process.recorder()
    process.passes(60.0)
    recorder.step()
    process.count(Search=3)
    process.passes(60.0, asleep_s=7_200.0)
    recorder.step()
    before, after = process.file.read(0, 2**40, MINUTE_S)
    assert (after.at - before.at, after.seconds, after.counts.searches) == (7_260, 60.0, 3.0)


def test_what_could_not_be_written_comes_with_the_next_row(process: Process, caplog: pytest.LogCaptureFixture) -> None:
    recorder = process.recorder()
    process.file.path.mkdir()  # in the way
    process.count(Search=2)
    process.times += [10.0]
    process.passes(60.0)
    recorder.step()
    process.file.path.rmdir()
    process.count(Search=1)
    process.times += [20.0]
    process.passes(60.0)
    recorder.step()
    [row] = process.file.read(AT, AT + 180, MINUTE_S)
    assert (row.counts.searches, row.seconds, sum(row.times.values())) == (3.0, 120.0, 2)


def test_a_day_that_could_not_be_written_takes_no_memory(process: Process) -> None:
    process.file.path.mkdir()  # in the way, as a full disk would be
    recorder = process.recorder()
    process.times += [10.0] * 2_000
    tracemalloc.start()
    recorder.step()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(50):
        process.times += [10.0 + 0.1 * number for number in range(2_000)]
        process.passes(60.0)
        recorder.step()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000
    process.file.path.rmdir()
    recorder.step()
    [row] = process.file.read(0, 2**40, MINUTE_S)
    assert sum(row.times.values()) == 51 * 2_000


def test_a_process_that_starts_again_goes_on_and_one_that_ends_writes_once_more(process: Process) -> None:
    recorder = process.recorder()
    process.count(Search=2)
    process.passes(60.0)
    recorder.step()
    # WHEN it is killed ten seconds later, and another one begins from nothing
    process.count(Search=5)
    process.passes(10.0)
    process.counts = {}
    with EachMinute(process.recorder()):
        process.count(Search=3)
        process.passes(20.0)
    # THEN what was counted since the last row is all that is lost
    assert [row.counts.searches for row in process.file.read(0, 2**40, MINUTE_S)] == [2.0, 3.0]


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, queue=Clocked()) as system:
        yield system


def test_what_waits_is_read_and_unknown_where_the_database_is_away(queued: System) -> None:
    water, _ = queued.put("water", "mow")
    assert queued_in(queued.parts) == Waiting(None, 2, 2, 0)
    queued.sql(f"UPDATE mcp.outbox SET dead_at = now(), attempts = 5 WHERE key = '{water}'")
    found = waiting_in(queued.parts)
    assert (found.classify, found.queued, found.dead) == (1, 1, 1)
    assert found.index_lag is not None

    queued.database.down = True
    assert queued_in(queued.parts) == Waiting()
