"""All applications in one, over a real database and a real index, asked over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.conftest import fresh_database
from tests.doubles import EdgeIndexes


@pytest.fixture
def database_url(emptied_database_url: str) -> str:
    """One database for all tests here, emptied before each."""
    return emptied_database_url


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        yield system


@pytest.fixture
def client(system: System) -> TestClient:
    """A client that sees a 500 as its callers would, instead of the exception behind it."""
    return TestClient(app_over(system), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def shared_system(postgres_server, migrated_template, edge_indexes) -> Iterator[System]:  # type: ignore[no-untyped-def]
    """One system for all tests of a module that only send what is refused."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder()) as system,
    ):
        yield system


@pytest.fixture(scope="module")
def shared_client(shared_system: System) -> TestClient:
    return TestClient(app_over(shared_system), raise_server_exceptions=False)


@pytest.fixture
def other(postgres_server, migrated_template, edge_indexes) -> Iterator[System]:  # type: ignore[no-untyped-def]
    """Another Skillroute, without rows."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder()) as system,
    ):
        yield system


@pytest.fixture
def other_client(other: System) -> TestClient:
    return TestClient(app_over(other), raise_server_exceptions=False)
