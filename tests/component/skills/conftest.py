"""A system whose work waits in a queue until a test receives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.builders import System, lent_system
from tests.component.skills.outbox import Clocked
from tests.doubles import EdgeIndexes


@pytest.fixture
def queue() -> Clocked:
    return Clocked()


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes, queue: Clocked) -> Iterator[System]:
    """A system with queues, where nothing is done until its message is received."""
    with lent_system(database_url, edge_indexes, queue=queue) as system:
        yield system
