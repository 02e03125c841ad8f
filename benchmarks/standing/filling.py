"""Filling an index server by processes that are killed again and again, with searches and writers beside them.

The server is a double: it keeps the keys it was sent, and is slow. Each process that catches it up is killed when its
time is over, as Lambda would. `Filling.run` returns the figures; `Filling.broken` is what must not be.

``python -m benchmarks.standing.filling`` is such a process; it reads its orders from standard input.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.feed import PostgresFeed
from skillroute.core.documents.generations import Generations
from skillroute.core.documents.index.shared import SharedReplica
from skillroute.core.documents.model import IndexRecord
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNotReady
from skillroute.core.postgres.pool import Pool

MODEL = EmbeddingModel("none", 1)
PAGE = 500
_KEY = b"bench"

_ROWS = """
SET session_replication_role = 'replica';
INSERT INTO mcp.tools (name, type, content_hash) SELECT 'tool ' || n, 'tool', 'c' FROM generate_series(1, %d) n;
INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload)
SELECT 'mcp_unified_search', id::text, true, '{e}', 'l', 't', '{}' FROM mcp.tools;
INSERT INTO mcp.index_changes (collection, item_id) SELECT 'mcp_unified_search', id::text FROM mcp.tools;
RESET session_replication_role;
ANALYZE mcp.tools, mcp.documents, mcp.index_changes
"""
_CHANGE = """
UPDATE mcp.index_changes SET xid = pg_current_xact_id()
WHERE item_id IN (SELECT id::text FROM mcp.tools ORDER BY id LIMIT %d)
"""
_ONE = """
INSERT INTO mcp.tools (name, type, content_hash) VALUES ('late %d', 'tool', 'c');
INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload)
SELECT 'mcp_unified_search', max(id)::text, true, '{e}', 'l', 't', '{}' FROM mcp.tools
"""


class SlowServer:
    """The double: keys of records by collections, behind a socket, so that they outlive the processes."""

    def __init__(self, delay_s: float) -> None:
        self.held: dict[str, set[str]] = {}
        self.written = 0
        self._delay_s = delay_s
        self._listener = Listener(("127.0.0.1", 0), authkey=_KEY)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.address[1])

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except EOFError:
                continue  # killed before it had introduced itself
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                while True:
                    connection.send(self._answer(*connection.recv()))
            except (EOFError, OSError):
                return

    def _answer(self, what: str, name: str, keys: Sequence[str]) -> int:
        held = self.held.setdefault(name, set())
        if what == "count":
            return len(held)
        time.sleep(self._delay_s)
        if what == "drop":
            del self.held[name]
        elif what == "upsert":
            held.update(keys)
            self.written += len(keys)
        else:
            held.difference_update(keys)
        return 0


class _Remote:
    """A stand-in of an index for a process: as much of a `VectorIndex` as catching up needs."""

    def __init__(self, port: int, number: int) -> None:
        self._connection = Client(("127.0.0.1", port), authkey=_KEY)
        self._number = number

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        self._ask("upsert", collection, [record.key for record in records])

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        self._ask("delete", collection, list(keys))

    def count(self, collection: Collection, **_: Any) -> int:
        return self._ask("count", collection)

    def exists(self) -> bool:
        return True

    def drop(self) -> None:
        for collection in collections():
            self._ask("drop", collection)

    def close(self) -> None:
        self._connection.close()

    def _ask(self, what: str, collection: Collection, keys: Sequence[str] = ()) -> int:
        self._connection.send((what, f"{self._number}-{collection.value}", keys))
        return int(self._connection.recv())


def replica(pool: Pool, port: int) -> SharedReplica:
    """Return the server as a process sees it."""

    def opened(_: EmbeddingModel, number: int, to_fill: bool) -> Any:
        return _Remote(port, number)

    return SharedReplica(PostgresFeed(pool), Generations(pool, "bench"), opened, lambda: None)


@dataclass
class Phase:
    """The course of a fill until the server was complete.

    Attributes
    ----------
    repeated : int
        Records that were written although they had been already, and had not changed.
    not_ready, stale, current : int
        Searches that had to do without the server, that were marked as stale, and that lacked nothing.
    unmarked : int
        Searches that lacked something and did not say so.
    look_ms : float
        The longest that a search looked for what it is answered from.
    """

    name: str
    rows: int
    processes: int = 0
    killed: int = 0
    seconds: float = 0.0
    written: int = 0
    repeated: int = 0
    late: int = 0
    not_ready: int = 0
    stale: int = 0
    current: int = 0
    unmarked: int = 0
    look_ms: float = 0.0
    converged: bool = False

    @property
    def broken(self) -> list[str]:
        """Return what should not be."""
        found = [] if self.converged else [f"{self.name}: not converged after {self.processes} processes"]
        if self.unmarked:
            found.append(f"{self.name}: {self.unmarked} searches lacked something and did not say so")
        # A page is lost with each process that is killed, and one row in each round comes late.
        if self.repeated > PAGE * (self.killed + 1) + self.late:
            found.append(f"{self.name}: {self.repeated} records were written again")
        return found


@dataclass
class Filling:
    """Fills a double from a database, and then carries many changes over."""

    url: str
    rows: int
    timeout_s: float
    delay_s: float
    phases: list[Phase] = field(default_factory=list)

    def run(self) -> list[dict[str, Any]]:
        """Make the rows and go through both phases."""
        pool, server = Pool(self.url, statement_timeout_s=600.0), SlowServer(self.delay_s)
        try:
            self._script(pool, _ROWS % self.rows)
            self._phase(pool, server, Phase("filled", self.rows))
            changed = self.rows // 4
            self._script(pool, _CHANGE % changed)
            self._phase(pool, server, Phase("changed", changed))
        finally:
            server.close()
            pool.close()
        return [asdict(phase) for phase in self.phases]

    @property
    def broken(self) -> list[str]:
        """Return what should not be."""
        return [problem for phase in self.phases for problem in phase.broken]

    def _phase(self, pool: Pool, server: SlowServer, phase: Phase) -> None:
        self.phases.append(phase)
        before, started = server.written, time.perf_counter()
        most = 20 + 10 * round(phase.rows / PAGE * (self.delay_s + 0.05) / self.timeout_s)
        search = replica(pool, server.port)
        while not phase.converged and phase.processes < most:
            if phase.processes < 5:
                self._script(pool, _ONE % self._count())
                phase.late += 1
            phase.processes += 1
            phase.killed += self._process(server, search, phase)
            phase.converged = self._look(server, search, phase)
        search.close()
        phase.seconds = round(time.perf_counter() - started, 1)
        phase.written = server.written - before
        phase.repeated = max(0, phase.written - phase.rows - phase.late)

    def _process(self, server: SlowServer, search: SharedReplica, phase: Phase) -> bool:
        """Have a process catch up, with searches meanwhile; return whether it had to be killed."""
        child = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert child.stdin is not None
        child.stdin.write(json.dumps({"url": self.url, "port": server.port}))
        child.stdin.close()
        ends = time.monotonic() + self.timeout_s
        while child.poll() is None and time.monotonic() < ends:
            self._look(server, search, phase)
            time.sleep(0.05)
        killed = child.poll() is None
        if killed:
            child.kill()
        child.wait()
        return killed

    def _look(self, server: SlowServer, search: SharedReplica, phase: Phase) -> bool:
        """Search, and tell whether the server had everything."""
        marks: list[bool] = []
        started = time.perf_counter()
        try:
            with search.current(lambda: marks.append(True)) as index:
                phase.look_ms = max(phase.look_ms, round((time.perf_counter() - started) * 1000, 1))
                if marks:
                    phase.stale += 1
                    return False
                phase.current += 1
                is_whole = index.count(TOOL_DOCUMENTS) == self._count()
                phase.unmarked += not is_whole
                return is_whole
        except IndexNotReady:
            phase.not_ready += 1
            return False

    def _count(self) -> int:
        return self.rows + sum(phase.late for phase in self.phases)

    @staticmethod
    def _script(pool: Pool, sql: str) -> None:
        with pool.borrowed() as connection:
            connection.script(sql)


def _main() -> None:
    orders = json.loads(sys.stdin.read())
    replica(Pool(orders["url"]), orders["port"]).catch_up(3600.0)


if __name__ == "__main__":
    _main()
