"""The schedule: what has to happen now and then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from skillroute.consumers.batch import Consumer
from skillroute.services.relay import RelayReport


def relay_consumer(relay: Callable[[], RelayReport]) -> Consumer:
    """Return the consumer of EventBridge's schedule. What the event says does not matter; the answer is the report."""

    def consume(_event: Mapping[str, Any], _context: Any) -> dict[str, Any]:
        return asdict(relay())

    return consume
