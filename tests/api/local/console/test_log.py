"""The page Log, without a browser: the latest events, filters, and those that follow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from skillroute.core.caller import LAPTOP
from skillroute.core.trace.model import TraceEvent
from skillroute.core.trace.repository import add_trace

from tests.api.local.console.conftest import page_of
from tests.builders import System

NOW = datetime.now(UTC)


def add(system: System, minutes_ago: int, **given: Any) -> TraceEvent:
    fields: dict[str, Any] = {"kind": "change", "outcome": "ok", "door": "http", "what": "PUT /x", "took_ms": 1.5}
    event = TraceEvent(at=NOW - timedelta(minutes=minutes_ago), caller=LAPTOP, **fields | given)
    add_trace(system.pool, [event.row()])
    return event


def test_the_latest_come_first_and_may_be_chosen_and_followed(system: System, tmp_path: Path) -> None:
    page = page_of(system, tmp_path / "requests.jsonl")

    def ids(**fields: Any) -> list[str]:
        answer = page.post("/do/log/events", json=fields)
        assert answer.status_code == 200, answer.text
        return [row["id"] for row in answer.json()["rows"]]

    assert ids() == []
    old, new = add(system, 2), add(system, 1, kind="call", outcome="failed", what="send")
    assert ids() == [str(new.id), str(old.id)]
    assert ids(kind="call") == ids(outcome="failed") == [str(new.id)]
    assert ids(actor="ann") == []
    assert ids(after=f"{old.at.isoformat()},{old.id}") == [str(new.id)]
    assert page.post("/do/log/events", json={"kind": "rumour"}).status_code == 422
