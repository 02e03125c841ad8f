"""One search while it runs: who asks, how long each stage takes, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import IndexKind
from skillroute.core.errors.model import IndexNotReady
from skillroute.core.observability import Metric, count, logger
from skillroute.core.time.timing import Stopwatch

SearchMode = Literal["semantic", "lexical", "hybrid", "hybrid_rerank", "lexical-only"]
Degradation = Literal[
    "embedding_unavailable",
    "vectors_missing",
    "tool_search_failed",
    "schema_load_failed",
    "index_unavailable",
    "index_stale",
    "reranker_unavailable",
    "learned_unavailable",
]


@dataclass(slots=True)
class SearchRun:
    """One search's metadata while it runs. Each failure also goes to the log and becomes a metric."""

    caller: Caller
    watch: Stopwatch = field(default_factory=Stopwatch)
    search_mode: SearchMode = "semantic"
    degraded: list[Degradation] = field(default_factory=list)
    index: IndexKind | None = None

    def degrade(self, what: Degradation, error: Exception) -> None:
        """Note that a part failed and the search goes on without it."""
        self.degraded.append(what)
        count(Metric.SEARCH_DEGRADED)
        logger.warning("search degraded", extra={"degradation": what, "reason": str(error)})

    def stale(self) -> None:
        """Note that the index lacks changes that are committed."""
        self.degrade("index_stale", IndexNotReady("the index lacks changes"))
