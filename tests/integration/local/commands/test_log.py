"""`skillroute log`: the latest events, and what comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.trace.model import TraceEvent
from skillroute.core.trace.repository import add_trace
from skillroute_local.commands import log

from tests.builders import System
from tests.integration.local.commands.conftest import CommandLine

NOW = datetime.now(UTC)


def add(system: System, number: int, **given: Any) -> TraceEvent:
    fields: dict[str, Any] = {
        "kind": "change",
        "outcome": "ok",
        "caller": LAPTOP,
        "door": "http",
        "what": f"PUT /{number}",
    }
    fields["took_ms"] = 1.5
    event = TraceEvent(at=NOW - timedelta(minutes=10 - number), id=UUID(int=number), **fields | given)
    add_trace(system.pool, [event.row()])
    return event


def test_lists_the_latest_events_the_latest_last(run: CommandLine, system: System) -> None:
    add(system, 1)
    add(system, 2, kind="call", outcome="failed", what="send", targets={"tool": 7, "server": "mail"}, code="timeout")
    heading, first, second = run("log").stdout.splitlines()
    assert heading.split() == ["time", "kind", "outcome", "actor", "what", "on", "ms", "code"]
    assert first.split()[2:] == ["change", "ok", "-", "PUT", "/1", "-", "1.5", "-"]
    assert second.split()[2:] == ["call", "failed", "-", "send", "tool", "7,", "server", "mail", "1.5", "timeout"]
    assert [event["what"] for event in run.json("log", "--limit", "1")] == ["send"]


def test_filters(run: CommandLine, system: System) -> None:
    add(system, 1)
    add(system, 9, kind="call", outcome="failed")
    moment = (NOW - timedelta(minutes=2)).isoformat()
    # Between both events, however long ago this module was read.
    span = f"{int((datetime.now(UTC) - NOW).total_seconds()) + 120}s"
    for options in (("--kind", "call"), ("--outcome", "failed"), ("--since", span), ("--since", moment)):
        assert [event["kind"] for event in run.json("log", *options)] == ["call"]
    assert run.json("log", "--actor", "ann") == []
    assert "SKILLROUTE_TRACE" in run("log", "--actor", "ann").stderr


@pytest.mark.parametrize("since", ["yesterday", "1w", "h", ""])
def test_a_span_that_is_none_is_named_with_what_one_is(run: CommandLine, since: str) -> None:
    done = run("log", "--since", since)
    assert done.exit_code == 2
    assert "1h" in done.stderr


@pytest.mark.parametrize("as_json", [True, False])
def test_follows_what_comes_also_late_and_shows_each_once_until_ctrl_c(
    run: CommandLine, system: System, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    add(system, 1)
    last = add(system, 2)
    steps: list[Callable[[], object]] = [
        lambda: add(system, 3),
        # of before the last one, as a search that was written late
        lambda: add_late(system, last),
        lambda: None,
    ]

    def wait(_: float) -> None:
        if not steps:
            raise KeyboardInterrupt
        steps.pop(0)()

    monkeypatch.setattr(log, "_sleep", wait)
    done = run("log", "--follow", *(["--json"] if as_json else []))
    lines = done.stdout.splitlines()
    whats = [json.loads(line)["what"] if as_json else " ".join(line.split()[5:-3]) for line in lines]
    expected = ["PUT /1", "PUT /2", "PUT /3", "late"]
    assert (done.exit_code, whats) == (0, expected)


def add_late(system: System, before: TraceEvent) -> None:
    """Add an event of a moment shortly before another one that was written earlier."""
    at = before.at + timedelta(minutes=1, seconds=-2)
    event = TraceEvent(at=at, kind="search", outcome="ok", caller=LAPTOP, door="mcp", what="late", took_ms=1.0)
    add_trace(system.pool, [event.row()])
