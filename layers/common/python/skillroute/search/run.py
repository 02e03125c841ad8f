"""One search while it runs: who asks, how long each stage takes, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.observability import Metric, count, logger
from skillroute.core.timing import Stopwatch
from skillroute.search.model import Degradation, FallbackReason, SearchMode


@dataclass(slots=True)
class SearchRun:
    """What a search gathers for its metadata. Whatever fails also goes to the log and becomes a metric."""

    caller: Caller
    watch: Stopwatch = field(default_factory=Stopwatch)
    search_mode: SearchMode = "semantic"
    fallback_reason: FallbackReason | None = None
    degraded: list[Degradation] = field(default_factory=list)
    descriptions_cut: bool = False

    def degrade(self, what: Degradation, error: Exception) -> None:
        """Note that a part failed and the search goes on without it."""
        self.degraded.append(what)
        count(Metric.SEARCH_DEGRADED)
        logger.warning("search degraded", extra={"degradation": what, "reason": str(error)})

    def fall_back(self, reason: FallbackReason) -> None:
        """Note that no skill narrows the search (search-contract BR-006)."""
        self.fallback_reason = reason
        count(Metric.SEARCH_FALLBACK)
        logger.warning("No skills matched, falling back to unfiltered search", extra={"fallback_reason": reason})


class IndexLease:
    """Borrows the index for a block; the time until it is there counts as bringing it up to date."""

    def __init__(self, replica: IndexReplica, watch: Stopwatch) -> None:
        self._lease = replica.current()
        self._watch = watch

    def __enter__(self) -> VectorIndex:
        with self._watch.stage("index_sync"):
            return self._lease.__enter__()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return self._lease.__exit__(exc_type, exc, traceback)
