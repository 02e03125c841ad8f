"""The index, borrowed for the length of a search."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.time.timing import Stopwatch


class IndexLease:
    """Borrows the index for a block; the time until it is there counts as bringing it up to date.

    Parameters
    ----------
    on_stale : callable
        Called when the index lacks changes that are committed.
    """

    def __init__(self, replica: LendsIndex, watch: Stopwatch, on_stale: Callable[[], object]) -> None:
        self._lease = replica.current(on_stale)
        self._watch = watch

    def __enter__(self) -> LentIndex:
        with self._watch.stage("index_sync"):
            return self._lease.__enter__()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return self._lease.__exit__(exc_type, exc, traceback)
