"""How much time an invocation has left, and what of a search still fits into it (message-search, section 7)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline

Tier = Literal["full", "no_rerank", "lexical_only"]

NO_RERANK_MS = 250.0
LEXICAL_ONLY_MS = 120.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The time that was left when the request came in; None is all the time there is.

    Attributes
    ----------
    given_ms : float or None
        Milliseconds.
    """

    given_ms: float | None = None
    clock: Clock = time.monotonic
    _deadline: Deadline | None = field(init=False)

    def __post_init__(self) -> None:
        deadline = None if self.given_ms is None else Deadline(self.given_ms / 1000.0, self.clock)
        object.__setattr__(self, "_deadline", deadline)

    @property
    def left_ms(self) -> float | None:
        """The time that is left of it now, at least 0; None where there is no end."""
        return None if self._deadline is None else self._deadline.remaining_s() * 1000.0

    def left_s(self, kept_ms: float) -> float | None:
        """Return the seconds that are left for a stage, of which it leaves some time to those after it."""
        left = self.left_ms
        return None if left is None else (left - kept_ms) / 1000.0

    @property
    def tier(self) -> Tier:
        """The part of a search that still fits: everything, all but reranking, or the lexical search alone."""
        left = self.left_ms
        if left is None or left > NO_RERANK_MS:
            return "full"
        return "no_rerank" if left > LEXICAL_ONLY_MS else "lexical_only"
