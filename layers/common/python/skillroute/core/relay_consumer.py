"""The schedule: what has to happen now and then. And one command of an operator's, who invokes the function by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from skillroute.core.errors.model import InvalidInput
from skillroute.core.queue.consumer import Consumer
from skillroute.core.relay import RelayReport
from skillroute.core.time.time_left import ending_with

MIGRATE = "migrate"


def relay_consumer(relay: Callable[[], RelayReport], migrate: Callable[[], list[str]]) -> Consumer:
    """Return the consumer of EventBridge's schedule, whose answer is the report.

    What the schedule says does not matter. ``{"command": "migrate"}`` comes from an operator: where a database inside a
    VPC is reached by the functions alone, it brings the schema up to date, and answers which migrations were applied.
    """

    def consume(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        command = event.get("command")
        if command not in {None, MIGRATE}:
            raise InvalidInput("command", f"must be {MIGRATE!r}, or absent")
        with ending_with(context):
            return {"applied": migrate()} if command else asdict(relay())

    return consume
