"""The file of the laptop's history: two tables that are written over from the beginning when they are full."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from skillroute_local.history.figures import COUNTS, WAITING, Counts, Span, Waiting

MINUTE_S, HOUR_S = 60, 3600
MINUTES_KEPT, HOURS_KEPT = 24 * 60, 30 * 24

_VERSION = 1
_WAIT_S = 5.0
_RINGS = {"minutes": (MINUTE_S, MINUTES_KEPT), "hours": (HOUR_S, HOURS_KEPT)}
_FIGURES = (*COUNTS, *WAITING)
_COLUMNS = ", ".join(("at", "seconds", *_FIGURES, "times"))


class HistoryFile:
    """A file of SQLite: a row for each minute of 24 hours, and for each hour of 30 days.

    A row has its place by its time, so that it takes that of the row a whole turn older.

    Parameters
    ----------
    path : Path
        Made when it is first written, for its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, span: Span) -> None:
        """Add what happened in a minute, also to its hour. Raises `sqlite3.Error` and `OSError`."""
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._opened() as database, database:
            database.execute("BEGIN IMMEDIATE")  # before it is read: another process may write as well
            if not _is_made(database):
                _make(database)
            for ring in _RINGS:
                _add(database, ring, span)

    def read(self, since: int, until: int, step_s: int) -> list[Span]:
        """Return the rows that begin from `since` on and before `until`: of minutes where a step is below an hour.

        There are none where the file is missing, or is of another version. Raises `sqlite3.Error`.
        """
        if not self.path.exists():
            return []
        ring = "minutes" if step_s < HOUR_S else "hours"
        with self._opened() as database:
            if not _is_made(database):
                return []
            found = database.execute(
                f"SELECT {_COLUMNS} FROM {ring} WHERE at >= ? AND at < ? ORDER BY at", (since, until)
            )
            return [_span(row) for row in found]

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as database:
            yield database


def _is_made(database: sqlite3.Connection) -> bool:
    [version] = database.execute("PRAGMA user_version").fetchone()
    return bool(version == _VERSION)


def _make(database: sqlite3.Connection) -> None:
    """Make the tables anew; what another version kept is of no use."""
    for ring in _RINGS:
        database.execute(f"DROP TABLE IF EXISTS {ring}")
        figures = ", ".join(f"{name} REAL" for name in _FIGURES)
        database.execute(
            f"CREATE TABLE {ring} (place INTEGER PRIMARY KEY, at INTEGER NOT NULL, seconds REAL NOT NULL, "
            f"{figures}, times TEXT NOT NULL)"
        )
    database.execute(f"PRAGMA user_version = {_VERSION}")


def _add(database: sqlite3.Connection, ring: str, span: Span) -> None:
    each_s, kept = _RINGS[ring]
    at = span.at - span.at % each_s
    place, row = at // each_s % kept, replace(span, at=at)
    before = database.execute(f"SELECT {_COLUMNS} FROM {ring} WHERE place = ? AND at = ?", (place, at)).fetchone()
    if before is not None:  # of the hour until now, or of a process that ended within this minute
        row = _span(before).plus(row)
    values = (place, at, row.seconds, *_values(row), json.dumps(dict(row.times), separators=(",", ":")))
    database.execute(
        f"INSERT OR REPLACE INTO {ring} (place, {_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values
    )


def _values(span: Span) -> list[float | None]:
    return [getattr(span.counts, name) for name in COUNTS] + [getattr(span.waiting, name) for name in WAITING]


def _span(row: tuple[object, ...]) -> Span:
    at, seconds, *figures, times = row
    assert isinstance(at, int) and isinstance(seconds, float)  # noqa: S101 (the columns' types)
    counts = Counts(*figures[: len(COUNTS)])  # type: ignore[arg-type]
    waiting = Waiting(*figures[len(COUNTS) :])  # type: ignore[arg-type]
    return Span(at, seconds, counts, waiting, {int(class_): count for class_, count in json.loads(str(times)).items()})
