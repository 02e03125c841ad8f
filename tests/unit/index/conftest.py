"""All engines behind one fixture: Edge in a temporary directory, qdrant-client's local mode, in memory, PostgreSQL."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from qdrant_client import QdrantClient
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.pool import Pool
from skillroute_local.connect.memory_index import MemoryIndex

from tests.doubles import EdgeIndexes
from tests.searched_documents import DocumentsIndex, search_in

DIMENSION = 3

MakeIndex = Callable[[], VectorIndex]


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
