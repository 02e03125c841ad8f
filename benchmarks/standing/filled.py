"""Filling what PostgreSQL searches, of a database that a benchmark has written."""

from __future__ import annotations

import time

from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.postgres.pool import Pool
from skillroute.wiring.index import cutters


def fill_points(url: str) -> float:
    """Fill the points of all documents, build the lists, and return the seconds that took."""
    pool = Pool(url, size=1, statement_timeout_s=3600.0)
    started = time.perf_counter()
    try:
        PostgresReplica(pool, lambda: None, cutters()).fill(3600.0, check=True, whole=True)
        seconds = time.perf_counter() - started
        with pool.borrowed() as connection:
            connection.script("VACUUM ANALYZE")
    finally:
        pool.close()
    return seconds
