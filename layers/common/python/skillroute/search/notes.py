"""Notes of a search that was answered: its times, what found nothing, and its receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from skillroute.core.observability import Metric, count, observe_ms
from skillroute.core.recent_searches import RecentSearches
from skillroute.core.trace.noted import note_search
from skillroute.search.candidates.candidate import Found, Hit
from skillroute.search.model import SearchMetadata, SearchRequest
from skillroute.search.plan import is_fused
from skillroute.search.receipts import Door, KeepsReceipts, SearchedText, SearchReceipt, Shown
from skillroute.search.run import ToolSearchRun

_TIME = "_time_ms"
_STAGES = {field.removesuffix(_TIME): field for field in SearchMetadata.model_fields if field.endswith(_TIME)}


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes searches in this process, and hands their receipts over.

    Attributes
    ----------
    recent : RecentSearches
    receipts : KeepsReceipts or None
        None where no receipts are kept.
    """

    recent: RecentSearches
    receipts: KeepsReceipts | None = None

    def new_id(self, door: Door | None) -> UUID | None:
        """Return the id of a search that begins; None where it leaves no receipt."""
        if self.receipts is None or door is None:
            return None
        search_id = uuid4()
        note_search(search_id)
        return search_id

    def answered(
        self, run: ToolSearchRun, request: SearchRequest, found: Found, metadata: SearchMetadata, door: Door | None
    ) -> None:
        """Note a search that was answered."""
        count(Metric.SEARCH)
        observe_ms(Metric.SEARCH_TIME, metadata.total_time_ms)
        unserved = [need.text for need in found.needs if need.no_match]
        if metadata.no_match and request.query is not None:
            unserved.append(request.query)
        if unserved or not found.hits:
            count(Metric.SEARCH_EMPTY)
        # One without a door is an examination: no one missed a tool.
        self.recent.note(stages_ms(metadata), unserved=unserved if door else (), caller=run.caller)
        if run.search_id is not None:
            hits = found.hits if request.needs is None else ()
            self.receipt(run, run.searched or [searched_text(run, text, hits) for text in request.texts], door)

    def receipt(self, run: ToolSearchRun, texts: Sequence[SearchedText], door: Door | None) -> None:
        """Hand over the receipt of a search that has an id."""
        if self.receipts is not None and run.search_id is not None and door is not None:
            self.receipts.note(SearchReceipt(run.search_id, run.caller, door, datetime.now(UTC), run.model, texts))


def searched_text(run: ToolSearchRun, text: str, hits: Iterable[Hit]) -> SearchedText:
    """Return what is kept of a text; in the hybrid modes a score is a probability."""
    has_probability = run.search_mode != "lexical-only" and is_fused(run.search_mode)
    shown = [
        Shown(
            hit.payload["db_id"], hit.payload["content_hash"], hit.candidate.score if has_probability else None
        )
        for hit in hits
    ]  # fmt: skip
    return SearchedText(text, run.vector, shown, run.no_match)


def stages_ms(metadata: SearchMetadata) -> dict[str, float]:
    """Return the milliseconds of each stage by its name, and of the whole as ``total``; 0 where a stage did not run."""
    return {stage: getattr(metadata, field) for stage, field in _STAGES.items()}
