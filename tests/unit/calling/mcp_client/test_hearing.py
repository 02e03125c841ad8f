"""GIVEN messages of a server before its answer, WHEN they are heard, THEN progress goes on and requests are refused."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.calling.mcp_client.hearing import Hearing
from skillroute.calling.model import CallFailed


def progress(**params: Any) -> dict[str, Any]:
    return {"method": "notifications/progress", "params": {"progressToken": 1, **params}}


def test_progress_that_is_of_this_call_and_can_be_read_goes_on() -> None:
    heard: list[Any] = []
    hearing = Hearing("a.example", 1, lambda *steps: heard.append(steps))
    for message in (
        progress(progress=1, total=4, message="so far"), progress(progress=2.5, total="x", message=["y"]),
        progress(progress="3"), progress(progress=True), progress(progress=float("inf")), progress(progress=10**400),
        progress(progress=4, progressToken=2), {"method": "notifications/progress"},
        progress(progress=5, message="z" * 999),
    ):  # fmt: skip
        assert hearing.take(message) is None
    assert [steps[:2] for steps in heard] == [(1, 4), (2.5, None), (5, None)]
    assert [len(steps[2] or "") for steps in heard] == [6, 0, 200]


def test_only_a_ping_is_answered() -> None:
    hearing = Hearing("a.example", 1)
    assert hearing.take({"id": "p", "method": "ping"}) == {"jsonrpc": "2.0", "id": "p", "result": {}}
    for method in ("sampling/createMessage", "roots/list", "elicitation/create", "other"):
        answer = hearing.take({"id": 3, "method": method})
        assert answer is not None
        assert answer["error"]["code"] == -32601
    assert hearing.take({"id": 4, "result": {}}) is None


def test_messages_without_end_are_not_heard() -> None:
    hearing = Hearing("a.example", 1)
    with pytest.raises(CallFailed, match="too many messages"):
        for _ in range(10_001):
            hearing.take(progress(progress=1))
