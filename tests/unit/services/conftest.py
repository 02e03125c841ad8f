"""Use cases over real PostgreSQL, with an embedder that is watched and can be away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.services.desk import Desk


@pytest.fixture
def database_url(emptied_database_url: str) -> str:
    """One database for all tests here, emptied before each."""
    return emptied_database_url


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
