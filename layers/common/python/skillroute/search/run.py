"""One search for tools while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.observability import Metric, count, logger
from skillroute.core.search_run import SearchRun
from skillroute.search.model import FallbackReason, Fit
from skillroute.search.receipts import SearchedText


@dataclass(slots=True)
class ToolSearchRun(SearchRun):
    """The metadata of a search for tools or skills, in addition to that of every search.

    And what its receipt needs: an id where it leaves one, the vector of its text and the model of that, and of a search
    for needs what each of its texts found.
    """

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
    search_id: UUID | None = None
    model: EmbeddingModel | None = None
    vector: Vector | None = None
    searched: Sequence[SearchedText] = ()

    def fall_back(self, reason: FallbackReason) -> None:
        """Note that no skill narrows the search (search-contract BR-006)."""
        self.fallback_reason = reason
        count(Metric.SEARCH_FALLBACK)
        logger.warning("No skills matched, falling back to unfiltered search", extra={"fallback_reason": reason})
