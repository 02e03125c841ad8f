"""One message search while it runs: what it needs, what it lost on the way, and how long its stages took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from skillroute.core.caller import Caller
from skillroute.core.errors.model import IndexTimeout, SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.time.timing import Stopwatch
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.cursor import Cursor, CursorEngine
from skillroute.mail.search.facets import Facets
from skillroute.mail.search.model import DowngradeReason, MessageSearchRequest, Mode
from skillroute.mail.search.outcome import IndexState, Stage
from skillroute.mail.search.plan import Part
from skillroute.mail.search.scope import SearchScope


@dataclass(slots=True)
class MessageRun:
    """One search's metadata while it runs.

    Attributes
    ----------
    offset : int
        Results to pass over before the page.
    missing : dict
        The parts that are away, and why; it grows while the search goes on without them.
    invalidated : str or None
        The engine of a cursor that went unheeded.
    """

    request: MessageSearchRequest
    caller: Caller
    facets: Facets
    scope: SearchScope
    requested: Mode
    budget: Budget
    offset: int
    watch: Stopwatch
    missing: dict[Part, DowngradeReason] = field(default_factory=dict)
    index_state: IndexState = "not_used"
    timeout_stage: Stage | None = None
    invalidated: CursorEngine | None = None
    _stage: Stage = "lexical"

    def fit(self) -> None:
        """Leave out what there is no time for."""
        if self.budget.tier == "lexical_only":
            self._leave_out("model", "vector", "semantic", "hybrid", "hybrid_rerank")
        elif self.budget.tier == "no_rerank" and "reranker" not in self.missing:
            self._leave_out("reranker", "rerank", "hybrid_rerank")

    def lose(self, part: Part, reason: DowngradeReason, error: SkillrouteError) -> None:
        """Note that a part failed and the search goes on without it."""
        self.missing[part] = reason
        if part == "index":
            self.index_state = "not_ready" if reason == "index_not_ready" else "failed"
        if isinstance(error, IndexTimeout):
            self.timeout_stage = self._stage
        elif part == "model" and self.budget.tier == "lexical_only":
            self.timeout_stage = "vector"
        elif part == "reranker" and self.budget.tier != "full":
            self.timeout_stage = "rerank"
        logger.warning("message search degraded", extra={"part": part, "reason": str(error)})

    def cursor(self, engine: CursorEngine) -> Cursor | None:
        """Return where the page before ended; None on page 1, and when another engine than this one said it."""
        cursor = Cursor.parse(self.request.cursor)
        self.invalidated = None
        if cursor is None or cursor.engine in (None, engine):
            return cursor
        self.invalidated = cursor.engine
        return None

    @contextmanager
    def stage(self, name: Stage, *, timed_as: str | None = None) -> Iterator[None]:
        """Measure a block, and remember what was at work should it fail."""
        self._stage = name
        with self.watch.stage(timed_as or name):
            yield

    def _leave_out(self, part: Part, stage: Stage, *modes: Mode) -> None:
        if self.requested in modes:
            self.missing.setdefault(part, "feature_unavailable")
            self.timeout_stage = stage
