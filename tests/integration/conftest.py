"""A pool over a fresh database, and units of work over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.pool import Pool

_HERE = Path(__file__).parent
# They change schemas, roles or settings, or look at plans, which emptied tables bend.
_NEED_A_FRESH_ONE = {
    *(f"core/postgres/test_{name}.py" for name in ("address", "commit_outcome", "connection", "failover")),
    *(f"core/postgres/test_{name}.py" for name in ("migrate", "roles", "tls")),
    *("catalogue/test_repository.py", "registry/test_repository.py"),
}


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """One database for all tests here, emptied before each; a fresh one where that does not do."""
    place = request.path.relative_to(_HERE).as_posix()
    needs_fresh = place in _NEED_A_FRESH_ONE or place.startswith("local/")
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
