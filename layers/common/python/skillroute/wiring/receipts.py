"""Receipts of searches: the recorder, and the pruning of those that are too old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from skillroute.learning.receipts.recorder import ReceiptRecorder


def make_receipts(core: CoreParts) -> ReceiptRecorder | None:
    """Return what keeps receipts of searches; None where none are kept. Its thread starts with the first of them."""
    settings = core.settings
    if settings.receipts == "off":
        return None
    from skillroute.learning.receipts.recorder import ReceiptRecorder
    from skillroute.learning.receipts.repository import add_receipts
    from skillroute.learning.receipts.rows import RowMaker

    make_row = RowMaker(settings.receipts == "on", settings.learn_global_from)
    return ReceiptRecorder(make_row, lambda rows: add_receipts(core.storage, rows))


def prune_receipts(core: CoreParts) -> int:
    """Delete receipts and outcomes that are too old; return how many went. Raises `DatabaseUnavailable`."""
    from skillroute.learning.receipts.repository import ReceiptRepository

    days = core.settings.receipts_days
    return core.storage.transact(lambda session: ReceiptRepository(session).prune(days=days))
