"""A database, replicas that follow it, and what was written to their indexes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient
from skillroute.core.documents.index.qdrant import QdrantIndex

from tests.doubles import EdgeIndexes
from tests.integration.replica.world import World
from tests.integration.storage.rows import MODEL


@pytest.fixture
def database_url(emptied_database_url: str) -> str:
    """One database for all tests here, emptied before each."""
    return emptied_database_url


@pytest.fixture
def qdrant() -> Iterator[QdrantIndex]:
    """A server that all replicas of a test share: the client's local mode."""
    with warnings.catch_warnings():
        # The client's local mode says so once in a process, at the first payload index.
        warnings.filterwarnings("ignore", "Payload indexes have no effect in the local Qdrant", UserWarning)
        index = QdrantIndex(QdrantClient(":memory:"), MODEL.dimension)
        yield index
        index.close()


@pytest.fixture
def embedded(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[World]:
    with World(database_url, edges=edge_indexes) as world:
        yield world


@pytest.fixture
def shared(database_url: str, qdrant: QdrantIndex) -> Iterator[World]:
    with World(database_url, server=qdrant) as world:
        yield world


@pytest.fixture(params=["embedded", "shared"])
def world(request: pytest.FixtureRequest) -> World:
    world: World = request.getfixturevalue(request.param)
    return world


@pytest.fixture
def replica_dir(tmp_path: Path) -> Path:
    return tmp_path / "replicas"
