"""A system over a fresh database, what it logs, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.core.observability import counts

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, LogRecords


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
