"""The use cases of learning from use."""

from __future__ import annotations

from skillroute.core.settings import ReceiptSettings
from skillroute.learning.outcomes.report import ReportOutcomes
from skillroute.wiring.parts import CoreParts


class LearningUseCases:
    """Taking in what became of the tools that searches showed."""

    def __init__(self, core: CoreParts) -> None:
        settings = core.of(ReceiptSettings)
        self.report = ReportOutcomes(
            core.database, is_kept=settings.receipts != "off", learn_global_from=settings.learn_global_from
        )
