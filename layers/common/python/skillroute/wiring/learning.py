"""The use cases over receipts, outcomes, and what is learned of them."""

from __future__ import annotations

from skillroute.learning.review.review import ReviewUse
from skillroute.wiring.parts import CoreParts


class LearningUseCases:
    """Looking at what use left behind, and having it deleted."""

    def __init__(self, core: CoreParts) -> None:
        self.review = ReviewUse(core.database)
