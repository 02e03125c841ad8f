"""Message search over a real database and a real index."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes

MakeSystem = Callable[..., System]


@pytest.fixture
def system_with(database_url: str, edge_indexes: EdgeIndexes, request: pytest.FixtureRequest) -> MakeSystem:
    """Make systems of other settings over the same database."""

    def make(**settings: object) -> System:
        lent = lent_system(database_url, edge_indexes, **settings)
        request.addfinalizer(lambda: lent.__exit__(None, None, None))
        return lent.__enter__()

    return make
