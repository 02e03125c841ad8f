"""A pool over a fresh database, and units of work over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.pool import Pool

# They change schemas, roles or settings, or look at plans, which emptied tables bend.
_NEED_A_FRESH_ONE = {
    *("address", "commit_outcome", "connection", "failover", "items", "migrations", "registry", "roles", "tls"),
}


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """One database for all tests here, emptied before each; a fresh one where that does not do."""
    needs_fresh = request.path.stem.removeprefix("test_") in _NEED_A_FRESH_ONE
    url: str = request.getfixturevalue("fresh_database_url" if needs_fresh else "emptied_database_url")
    return url


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    pool = Pool(database_url)
    yield pool
    pool.close()


@pytest.fixture
def database(pool: Pool) -> Database:
    return pool
