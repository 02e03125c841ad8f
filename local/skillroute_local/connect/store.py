"""Keeps state between two starts: vectors by the hash of their text, and what each server listed last.

With them a search is answered as soon as the model is loaded, while the servers still start. One SQLite file for all
that run at once; without it everything works, and takes longer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path

from skillroute.core.embedding.model import EmbeddingModel, Vector

from skillroute_local.mcp_servers.model import Listed, McpServer

logger = logging.getLogger(__name__)

_KEPT_S = 60 * 24 * 3600.0
_WAIT_S = 2.0
FRESH_S = 24 * 3600.0
"""A server that has listed longer ago is started at once, so that what is new in it is found."""

_TABLES = """
CREATE TABLE IF NOT EXISTS vectors (model TEXT, hash TEXT, vector BLOB, used_at REAL, PRIMARY KEY (model, hash));
CREATE TABLE IF NOT EXISTS listings (server TEXT PRIMARY KEY, items TEXT, used_at REAL);
"""


def default_path() -> Path:
    """Return where it is kept: in SKILLROUTE_HOME where that is set, else in the user's cache.

    Not in `.skillroute` of the working directory: agents start their servers wherever they are.
    """
    if home := os.environ.get("SKILLROUTE_HOME"):
        return Path(home).expanduser() / "connect.sqlite3"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skillroute" / "connect.sqlite3"


class Store:
    """A file of vectors and listings. Failures are logged, and what could not be read is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_usable = True
        with self._opened() as database:
            if database is not None:
                database.executescript(_TABLES)
                for table in ("vectors", "listings"):
                    database.execute(f"DELETE FROM {table} WHERE used_at < ?", (time.time() - _KEPT_S,))

    def vectors(self, model: EmbeddingModel, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are kept of texts, by their hashes."""
        found: dict[str, Vector] = {}
        with self._opened() as database:
            if database is None:
                return found
            for hash_ in hashes:
                row = database.execute("SELECT vector FROM vectors WHERE (model, hash) = (?, ?)", (str(model), hash_))
                if (kept := row.fetchone()) is not None and len(kept[0]) == 4 * model.dimension:
                    found[hash_] = list(struct.unpack(f"<{model.dimension}f", kept[0]))
        return found

    def keep_vectors(self, model: EmbeddingModel, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of texts, also those that were kept already: they are in use."""
        rows = [
            (str(model), hash_, struct.pack(f"<{len(vector)}f", *vector), time.time())
            for hash_, vector in vectors.items()
        ]
        with self._opened() as database:
            if database is not None:
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def listing(self, server: McpServer) -> list[Listed] | None:
        """Return what a server listed when it was last asked with the same settings; None where that is not known."""
        with self._opened() as database:
            if database is not None:
                row = database.execute("SELECT items FROM listings WHERE server = ?", (_fingerprint(server),))
                if (kept := row.fetchone()) is not None:
                    return [Listed(**item) for item in json.loads(kept[0])]
        return None

    def is_fresh(self, server: McpServer) -> bool:
        """Return whether what is kept of a server is whole, not empty, and young enough to go by until it is called."""
        with self._opened() as database:
            if database is not None:
                query = "SELECT 1 FROM listings WHERE server = ? AND items != '[]' AND used_at > ?"
                found = database.execute(query, (_fingerprint(server), time.time() - FRESH_S))
                return found.fetchone() is not None
        return False

    def keep_listing(self, server: McpServer, items: Sequence[Listed], *, is_whole: bool = True) -> None:
        """Keep what a server lists; where one of its lists failed, it is asked again at the next start."""
        text = json.dumps([asdict(item) for item in items])
        with self._opened() as database:
            if database is not None:
                row = (_fingerprint(server), text, time.time() - (0 if is_whole else FRESH_S))
                database.execute("INSERT OR REPLACE INTO listings VALUES (?, ?, ?)", row)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection for one transaction, or None where there can be none."""
        if not self._is_usable:
            yield None
            return
        try:
            with closing(connected(self._path)) as database, database:
                yield database
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            logger.warning("%s cannot be used (%s): each start takes as long as the first", self._path, error)
            self._is_usable = False


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, which is made where there is none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Closed to others: listings may be of private servers.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return sqlite3.connect(path, timeout=_WAIT_S)


def _fingerprint(server: McpServer) -> str:
    """Return what tells a server's settings from others. A hash, for they hold secrets."""
    settings = {name: value for name, value in asdict(server).items() if name not in {"where", "config"}}
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()
