"""The outcome of a message search, for the route and for the two tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.model import DowngradeReason, Mode

IndexState = Literal["ready", "not_ready", "failed", "bypassed", "not_used"]
"""bypassed: the deployment's setting leaves it out. not_used: nothing had to be looked up in it."""

Stage = Literal["lexical", "vector", "rerank"]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """An answer, and how it came about.

    Attributes
    ----------
    response : MessageSearchResponse
        With `explain` exactly when the request asked for it.
    requested, actual : Mode
    reason : DowngradeReason or None
        Why less was served than asked for, or by another engine than the usual one.
    timeout_stage : str or None
        The stage that there was no time for, or that took too long.
    """

    response: MessageSearchResponse
    requested: Mode
    actual: Mode
    reason: DowngradeReason | None
    index_state: IndexState
    timeout_stage: Stage | None
    budget: Budget

    @property
    def is_degraded(self) -> bool:
        """Whether something was away or too slow; a deployment's own choice of an engine is not a degradation."""
        return self.reason not in (None, "kill_switch")
