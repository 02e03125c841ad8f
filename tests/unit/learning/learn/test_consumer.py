"""The learn queue's edge: events in, one run for each organisation, the messages that must come again out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skillroute.core.errors.model import DatabaseUnavailable, EmbeddingUnavailable
from skillroute.core.queue.work import WorkQueue
from skillroute.learning.learn.consumer import learn_consumer


class Noted:
    """Stands where `FailedWork` would, and writes down what it is told."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def __call__(self, queue: WorkQueue, reasons: Mapping[str, str], receives: Mapping[str, int]) -> None:
        assert queue == "learn"
        self.reasons |= reasons


def event(*orgs: str | None) -> dict[str, Any]:
    return {
        "Records": [{"messageId": f"m{n}", "body": json.dumps({"org_id": each})} for n, each in enumerate(orgs)],
    }


def test_each_organisation_stands_alone_and_what_failed_comes_again() -> None:
    errors = {
        "org/a": EmbeddingUnavailable("away"),
        "global": ZeroDivisionError("by zero"),
        "org/b": DatabaseUnavailable("gone"),
    }
    ran: list[str] = []
    dispatched: list[int] = []

    def run(key: str) -> None:
        ran.append(key)
        if key in errors:
            raise errors[key]

    noted = Noted()
    consume = learn_consumer(run, noted, lambda: dispatched.append(1))  # type: ignore[arg-type]
    answer = consume(event("a", None, "b", "c", "c"), None)

    assert ran == ["org/a", "global", "org/b", "org/c"]
    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == ["m0", "m1", "m2"]
    assert noted.reasons == {"org/a": "away", "global": "ZeroDivisionError: by zero", "org/b": "gone"}
    assert dispatched == [1]
