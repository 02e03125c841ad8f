"""Filling what is searched inside PostgreSQL, by whoever has the time for all of it: `up` and `reindex`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillroute.core.documents.index.postgres_replica import PostgresReplica
    from skillroute.wiring.parts import CoreParts

_FILL_S = 4 * 3600.0
_STATEMENT_S = 3600.0
"""Lists of a million vectors take minutes, in one statement."""


def left_to_fill(parts: CoreParts) -> int:
    """Return how many documents cannot be searched inside PostgreSQL yet; 0 where nobody does.

    Raises `DatabaseUnavailable`.
    """
    with _replica(parts) as replica:
        return replica.left() if replica else 0


def fill(parts: CoreParts, progress: Callable[[int], None] = lambda _: None) -> None:
    """Fill PostgreSQL to the end, and build its lists, where it is searched. Interrupted, it goes on where it was.

    Parameters
    ----------
    progress : callable
        Called with the number of documents of each page.

    Raises
    ------
    IndexNotReady
        There is no extension to search with, and nothing else to search: the message says what to do.
    DatabaseUnavailable
    """
    with _replica(parts) as replica:
        if replica:
            replica.fill(_FILL_S, check=True, whole=True, progress=progress)
            if parts.settings.index_kind == "postgres":
                replica.lent()


@contextmanager
def _replica(parts: CoreParts) -> Iterator[PostgresReplica | None]:
    if parts.settings.index_kind not in {"postgres", "auto"}:
        yield None
        return
    from skillroute.core.documents.index.postgres_replica import PostgresReplica
    from skillroute.core.postgres.pool import Pool
    from skillroute.wiring.index import cutters

    timeout_s = parts.settings.database_connect_timeout_s
    patient = Pool(parts.address, size=1, connect_timeout_s=timeout_s, statement_timeout_s=_STATEMENT_S)
    try:
        yield PostgresReplica(patient, parts.query_embedder.model, cutters())
    finally:
        patient.close()
