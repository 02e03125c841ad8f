"""The file of the history: rows that are written over after a turn, one after a restart, and gaps."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from skillroute_local.history.figures import Counts, Span, Waiting, classes_of
from skillroute_local.history.ring import HOUR_S, HOURS_KEPT, MINUTE_S, MINUTES_KEPT, HistoryFile
from skillroute_local.history.source import FileHistory, HistoryUnavailable

AT = 1_800_000_000 // HOUR_S * HOUR_S
SPAN = Span(AT, 60.0, Counts(searches=2, writes=1), Waiting(1, 2, 3, 4), classes_of([10.0, 20.0]))


@pytest.fixture
def file(tmp_path: Path) -> HistoryFile:
    return HistoryFile(tmp_path / "history.sqlite")


def rows(file: HistoryFile, table: str) -> int:
    with closing(sqlite3.connect(file.path)) as database:
        [count] = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert isinstance(count, int)
    return count


def test_a_row_comes_back_as_it_was_written(file: HistoryFile) -> None:
    assert file.read(AT, AT + 60, MINUTE_S) == []
    assert not file.path.exists()
    file.add(SPAN)
    assert file.read(AT, AT + 60, MINUTE_S) == file.read(AT, AT + 60, HOUR_S) == [SPAN]
    assert file.read(AT + 1, AT + 60, MINUTE_S) == []
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_minutes_and_hours_are_written_over_when_the_ring_is_full(file: HistoryFile) -> None:
    # GIVEN a full turn of minutes, and one more
    for minute in range(MINUTES_KEPT + 1):
        file.add(replace(SPAN, at=AT + minute * MINUTE_S))
    # THEN there are as many rows as before, and the first is gone
    assert rows(file, "minutes") == MINUTES_KEPT
    kept = file.read(0, 2**40, MINUTE_S)
    assert (kept[0].at, kept[-1].at) == (AT + MINUTE_S, AT + MINUTES_KEPT * MINUTE_S)
    hours = file.read(0, 2**40, HOUR_S)
    assert [hour.counts.searches for hour in hours] == [120.0] * 24 + [2.0]

    # AND an hour takes the row of the one a whole turn older, and adds nothing to it
    later = AT + HOURS_KEPT * HOUR_S
    file.add(replace(SPAN, at=later))
    hours = file.read(0, 2**40, HOUR_S)
    assert rows(file, "hours") == 25
    assert (hours[0].at, hours[-1].at, hours[-1].counts.searches) == (AT + HOUR_S, later, 2.0)


def test_what_a_restart_counts_within_the_same_minute_is_added(file: HistoryFile) -> None:
    file.add(replace(SPAN, seconds=20.0))
    again = HistoryFile(file.path)
    again.add(replace(SPAN, seconds=30.0, waiting=Waiting(0, 0, 0, 0)))
    [row] = again.read(AT, AT + 60, MINUTE_S)
    assert (row.seconds, row.counts.searches, row.waiting) == (50.0, 4.0, Waiting(0, 0, 0, 0))
    assert sum(row.times.values()) == 4


def test_two_that_write_at_once_lose_nothing(file: HistoryFile) -> None:
    # GIVEN two processes, also where neither has made the tables yet
    with ThreadPoolExecutor(8) as pool:
        for written in [pool.submit(HistoryFile(file.path).add, SPAN) for _ in range(32)]:
            written.result()
    [row] = file.read(AT, AT + 60, MINUTE_S)
    assert (row.counts.searches, row.seconds) == (64.0, 1920.0)


def test_what_came_before_a_clock_was_set_back_gives_way(file: HistoryFile) -> None:
    file.add(replace(SPAN, at=AT + MINUTES_KEPT * MINUTE_S))  # a day ahead
    file.add(SPAN)
    assert [row.at for row in file.read(0, 2**40, MINUTE_S)] == [AT]


def test_a_range_has_a_gap_where_the_machine_slept(file: HistoryFile) -> None:
    now = AT + HOUR_S - 1
    for minute in (0, 1, 50, 59):
        file.add(replace(SPAN, at=AT + minute * MINUTE_S))
    found = FileHistory(file, now=lambda: now).series("1h")
    rate = found["series"]["rate"]
    assert (found["step_s"], len(rate)) == (60, 60)
    assert {place for place, value in enumerate(rate) if value is not None} == {0, 1, 50, 59}
    assert FileHistory(file, now=lambda: now).series("7d")["series"]["searches"][-1] == 8.0


@pytest.mark.parametrize(("range_", "points"), [("1h", 60), ("24h", 288), ("7d", 168), ("30d", 180)])
def test_each_range_has_few_points_and_ends_now(file: HistoryFile, range_: str, points: int) -> None:
    now = AT + 12_345
    file.add(replace(SPAN, at=now - now % 60))
    found = FileHistory(file, now=lambda: now).series(range_)  # type: ignore[arg-type]
    series = found["series"]
    assert {len(values) for values in series.values()} == {points}
    assert series["at"][-1] <= now < series["at"][-1] + found["step_s"]
    assert series["searches"][-1] == 2.0


def test_a_file_of_another_version_is_made_anew_and_a_broken_one_says_what_helps(file: HistoryFile) -> None:
    with closing(sqlite3.connect(file.path)) as database, database:
        database.execute("CREATE TABLE minutes (at TEXT)")
        database.execute("PRAGMA user_version = 99")
    # Who looks at it changes nothing: the version that made it may run still.
    assert file.read(AT, AT + 60, MINUTE_S) == []
    assert rows(file, "minutes") == 0
    with closing(sqlite3.connect(file.path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (99,)
    file.add(SPAN)
    assert file.read(AT, AT + 60, MINUTE_S) == [SPAN]

    file.path.write_bytes(b"no database at all" * 100)
    with pytest.raises(HistoryUnavailable, match=r"history\.sqlite") as refused:
        FileHistory(file).series("24h")
    assert "delete the file" in refused.value.remedy
