"""A pool over a fresh database, and units of work over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.pool import Pool


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    pool = Pool(database_url)
    yield pool
    pool.close()


@pytest.fixture
def database(pool: Pool) -> Database:
    return pool
