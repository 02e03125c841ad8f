"""All engines behind one fixture; and replicas that follow a database, with what was written to their indexes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from qdrant_client import QdrantClient
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.pool import Pool
from skillroute_local.connect.memory_index import MemoryIndex

from tests.doubles import EdgeIndexes
from tests.integration.core.documents.index.replica_world import World
from tests.integration.rows import MODEL
from tests.searched_documents import DocumentsIndex, search_in

DIMENSION = 3

MakeIndex = Callable[[], VectorIndex]


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


@pytest.fixture
def make_edge(edge_indexes: EdgeIndexes) -> Iterator[MakeIndex]:
    """Give one empty index again and again, for making and closing one takes 0.6 s.

    An emptied index answers as a new one does, or the test of congruence fails.
    """
    lent: list[VectorIndex] = []

    def make() -> VectorIndex:
        if lent:
            edge_indexes.give_back(lent.pop())
        lent.append(edge_indexes.take(DIMENSION))
        return lent[-1]

    yield make
    if lent:
        edge_indexes.give_back(lent.pop())


@pytest.fixture
def make_local() -> Iterator[MakeIndex]:
    made: list[QdrantIndex] = []

    def make() -> VectorIndex:
        made.append(QdrantIndex(QdrantClient(":memory:"), DIMENSION))
        return made[-1]

    with warnings.catch_warnings():
        # The client's local mode says so once in a process, at the first payload index.
        warnings.filterwarnings("ignore", "Payload indexes have no effect in the local Qdrant", UserWarning)
        yield make
    for index in made:
        index.close()


@pytest.fixture
def make_memory() -> MakeIndex:
    return MemoryIndex


@pytest.fixture
def make_postgres(_reused_database: tuple[str, Callable[[], object]]) -> Iterator[MakeIndex]:
    url, empty = _reused_database

    def make() -> VectorIndex:
        empty()
        search_in(pool)
        return DocumentsIndex(pool, EmbeddingModel("m", DIMENSION))

    with closing(Pool(url)) as pool:
        yield make


@pytest.fixture(params=["edge", "local", "memory", "postgres"])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    make: MakeIndex = request.getfixturevalue(f"make_{request.param}")
    return make()
