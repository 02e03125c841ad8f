"""The answers to outcomes of calls."""

from __future__ import annotations

from skillroute_client.models.base import Answer
from skillroute_client.models.written import Failure


class Feedback(Answer):
    """Whether an outcome is kept; not where the deployment keeps no receipts."""

    kept: bool


class FeedbackResult(Answer):
    """The result of one outcome: `status` is ``accepted`` or ``failed``."""

    index: int
    status: str
    error: Failure | None = None


class FeedbackResults(Feedback):
    """The results of all outcomes, in the order of the request."""

    accepted: int
    failed: int
    results: list[FeedbackResult] = []

    @property
    def failures(self) -> list[FeedbackResult]:
        """The results of outcomes that were not accepted."""
        return [result for result in self.results if result.status == "failed"]
