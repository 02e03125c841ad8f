"""One search for tools while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.core.observability import Metric, count, logger
from skillroute.core.search_run import SearchRun
from skillroute.search.model import FallbackReason, Fit


@dataclass(slots=True)
class ToolSearchRun(SearchRun):
    """The metadata of a search for tools or skills, in addition to that of every search."""

    fallback_reason: FallbackReason | None = None
    descriptions_cut: bool = False
    confidence: float | None = None
    confidence_first_five: float | None = None
    no_match: bool = False
    fit: Fit | None = None
    language: str | None = None
    language_unknown_to_model: bool = False
    annotations_omitted: int = 0
    unknown_servers: Sequence[str] = ()

    def fall_back(self, reason: FallbackReason) -> None:
        """Note that no skill narrows the search (search-contract BR-006)."""
        self.fallback_reason = reason
        count(Metric.SEARCH_FALLBACK)
        logger.warning("No skills matched, falling back to unfiltered search", extra={"fallback_reason": reason})
