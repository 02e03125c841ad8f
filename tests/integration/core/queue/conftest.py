"""moto's SQS, once for all tests of the queues."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute_local.queue_server import QueueServer


@pytest.fixture(scope="session")
def sqs_endpoint() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url
