"""Receipts as they are recorded: text by text, in the order of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from skillroute.core import observability
from skillroute.learning.receipts.recorder import ReceiptRecorder

from tests.doubles import FakeClock
from tests.unit.learning.receipts.test_rows import receipt


def test_the_texts_of_a_search_are_rows_of_their_own_in_order() -> None:
    written: list[Sequence[Mapping[str, Any]]] = []
    recorder = ReceiptRecorder(
        lambda one: {"nth": one.nth, "text": one.text.text}, written.append, starts=False, clock=FakeClock()
    )
    recorder.note(receipt("x", "y"))
    assert recorder.step() == 0.0
    assert written == [[{"nth": 0, "text": "x"}, {"nth": 1, "text": "y"}]]


def test_what_is_lost_is_counted_as_receipts(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: object) -> None:
        raise ValueError("a row that cannot be written")

    before = observability.counts().get("ReceiptsDropped", 0)
    recorder = ReceiptRecorder(lambda _: {}, refuse, starts=False, clock=FakeClock())
    recorder.note(receipt("x"))
    recorder.step()
    assert observability.counts()["ReceiptsDropped"] == before + 1
    assert "receipts of searches lost" in [record.getMessage() for record in caplog.records]
