"""The use cases over receipts, outcomes, and what is learned of them."""

from __future__ import annotations

from skillroute.core.settings import ReceiptSettings
from skillroute.learning.outcomes.report import ReportOutcomes
from skillroute.learning.review.review import ReviewUse
from skillroute.learning.states.manage import ManageStates
from skillroute.wiring.parts import CoreParts


class LearningUseCases:
    """Outcomes are taken in, use is looked at and deleted, and what was learned of it is switched."""

    def __init__(self, core: CoreParts) -> None:
        settings = core.of(ReceiptSettings)
        self.report = ReportOutcomes(
            core.database, is_kept=settings.receipts != "off", learn_global_from=settings.learn_global_from
        )
        self.review = ReviewUse(core.database)
        self.states = ManageStates(core.database, receipts=settings.receipts, receipts_days=settings.receipts_days)
