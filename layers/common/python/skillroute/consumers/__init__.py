"""The queues' edge, as `web` is that of HTTP: events in, one use case, partial answers out."""

from __future__ import annotations

from skillroute.consumers.aggregate import aggregate_consumer
from skillroute.consumers.batch import Consumer
from skillroute.consumers.classify import classify_consumer
from skillroute.consumers.relay import relay_consumer

__all__ = ["Consumer", "aggregate_consumer", "classify_consumer", "relay_consumer"]
