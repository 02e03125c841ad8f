"""The receipts that are made up to be stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import repeat

from benchmarks.standing.receipts import made_up


def test_half_of_them_are_too_old_and_all_have_ids_of_their_own() -> None:
    found = list(made_up(400, repeat("send an email", 1000), seed=7))
    old = sum(receipt.asked_at < datetime.now(UTC) - timedelta(days=30) for receipt in found)
    assert len({receipt.search_id for receipt in found}) == 400
    assert 150 < old < 250
