"""Systems over a database, what they log, and what they count; use cases with an embedder that can be away."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.core.observability import counts

from tests.builders import System, lent_system
from tests.component.core.queue.clocked import Clocked
from tests.doubles import EdgeIndexes, LogRecords
from tests.worlds.desk import Desk


@pytest.fixture
def database_url(emptied_database_url: str) -> str:
    """One database for all tests here, emptied before each."""
    return emptied_database_url


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """Real PostgreSQL, real embedded index; vectors out of a table."""
    with lent_system(database_url, edge_indexes) as system:
        yield system


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


@pytest.fixture
def counted() -> Callable[[str], float]:
    """Return how much a metric grew since the test began."""
    before = counts()
    return lambda metric: counts().get(metric, 0) - before.get(metric, 0)


@pytest.fixture
def queue() -> Clocked:
    return Clocked()


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes, queue: Clocked) -> Iterator[System]:
    """A system with queues, where nothing is done until its message is received."""
    with lent_system(database_url, edge_indexes, queue=queue) as system:
        yield system


@pytest.fixture
def desk(database_url: str) -> Iterator[Desk]:
    desk = Desk(database_url)
    yield desk
    desk.close()


@pytest.fixture
def other(database_url: str) -> Iterator[Desk]:
    """A second process over the same database."""
    desk = Desk(database_url)
    yield desk
    desk.close()
