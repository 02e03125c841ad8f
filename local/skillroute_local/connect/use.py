"""Searches of agents and outcomes of their calls, kept in the file of `connect`; nothing is learned from them yet.

Searches and calls hand it over and go on; a thread masks secrets and addresses, and writes.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue

from skillroute.core.settings import ReceiptSettings
from skillroute.learning.model import OutcomeKind
from skillroute.learning.receipts.rows import masked, query_hash

from skillroute_local.connect.kept import Session
from skillroute_local.connect.store import connected

logger = logging.getLogger(__name__)

_MAX_REMEMBERED = 10_000
"""Items of which the last search of a session is known."""
_MAX_WAITING = 1_000
"""Rows that wait to be written; further ones are lost."""
_DAY_S = 24 * 3600.0

_TABLES = """
CREATE TABLE IF NOT EXISTS receipts (search_id TEXT, nth INTEGER, asked_at REAL, query TEXT, query_hash TEXT,
    shown TEXT, no_match INTEGER, PRIMARY KEY (search_id, nth));
CREATE TABLE IF NOT EXISTS outcomes (search_id TEXT, item TEXT, outcome TEXT, reported_at REAL);
CREATE INDEX IF NOT EXISTS receipts_age ON receipts (asked_at);
CREATE INDEX IF NOT EXISTS outcomes_age ON outcomes (reported_at);
"""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item of an answer: its id, the hash of its content, and its probability."""

    id: str
    content_hash: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A text that was searched for, and what was shown for it, best first."""

    query: str
    shown: Sequence[ShownItem]
    no_match: bool


class Use:
    """Keeps searches and outcomes. Failures are logged, and lose what was to be written.

    Parameters
    ----------
    path : Path
        Of the file of `Store`.
    settings : ReceiptSettings
        Not with `receipts` off.
    clock : callable
        Returns seconds since 1970.
    """

    def __init__(self, path: Path, settings: ReceiptSettings, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._with_texts = settings.receipts == "on"
        self._kept_s = settings.receipts_days * _DAY_S
        self._clock = clock
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[Session, str], str] = OrderedDict()
        self._waiting: Queue[tuple[str, float, Asked | tuple[str, OutcomeKind], int]] = Queue(_MAX_WAITING)
        self._thread: threading.Thread | None = None
        self._pruned_at = float("-inf")

    def searched(self, session: Session, texts: Sequence[Asked], ids: Sequence[str]) -> str:
        """Note a search of a session, which showed `ids`; return the id that it has from now on."""
        search_id = str(uuid.uuid4())
        with self._lock:
            for id_ in ids:
                self._last[session, id_] = search_id
                self._last.move_to_end((session, id_))
            while len(self._last) > _MAX_REMEMBERED:
                self._last.popitem(last=False)
        for nth, text in enumerate(texts):
            self._put(search_id, text, nth)
        return search_id

    def noted(self, session: Session, item: str) -> Callable[[OutcomeKind], None]:
        """Note that a session calls an item; return what notes how the call ended.

        An item that no search has shown to the session has no outcome.
        """
        with self._lock:
            search_id = self._last.get((session, item))

        def note(outcome: OutcomeKind) -> None:
            if search_id is not None:
                self._put(search_id, (item, outcome), 0)

        note("called")
        return note

    def flush(self) -> None:
        """Wait until what was noted so far is written, or lost."""
        self._waiting.join()

    def _put(self, search_id: str, what: Asked | tuple[str, OutcomeKind], nth: int) -> None:
        try:
            self._waiting.put_nowait((search_id, self._clock(), what, nth))
        except Full:
            logger.warning("%s does not take searches and calls as fast as they come: some are not kept", self._path)
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="connect-use", daemon=True)
                self._thread.start()

    def _write_all(self) -> None:
        while True:
            rows = [self._waiting.get()]
            try:
                while True:
                    rows.append(self._waiting.get_nowait())
            except Empty:
                pass
            try:
                with self._opened() as database:
                    self._prune(database)
                    for row in rows:
                        self._write(database, *row)
            except (sqlite3.Error, OSError, ValueError) as error:
                logger.warning(
                    "%s cannot be written (%s): %d searches and calls are not kept", self._path, error, len(rows)
                )
            finally:
                for _ in rows:
                    self._waiting.task_done()

    def _write(
        self, database: sqlite3.Connection, search_id: str, at: float, what: Asked | tuple[str, OutcomeKind], nth: int
    ) -> None:
        if not isinstance(what, Asked):
            database.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?)", (search_id, *what, at))
            return
        query = masked(what.query)
        shown = json.dumps([[item.id, item.content_hash, item.probability] for item in what.shown])
        text = query if self._with_texts else None
        row = (search_id, nth, at, text, query_hash(query, None), shown, what.no_match)
        database.execute("INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def _prune(self, database: sqlite3.Connection) -> None:
        now = self._clock()
        if now - self._pruned_at < _DAY_S:
            return
        database.execute("DELETE FROM receipts WHERE asked_at < ?", (now - self._kept_s,))
        database.execute("DELETE FROM outcomes WHERE reported_at < ?", (now - self._kept_s,))
        self._pruned_at = now

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with closing(connected(self._path)) as database, database:
            database.executescript(_TABLES)
            yield database
