"""Both engines behind one fixture: Edge in a temporary directory, qdrant-client in its local mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest
from qdrant_client import QdrantClient
from skillroute.domain.index import Collection, IndexFilter
from skillroute.errors import IndexUnavailable
from skillroute.ports import VectorIndex
from skillroute.storage.index.edge import EdgeIndex
from skillroute.storage.index.qdrant import QdrantIndex

DIMENSION = 3

MakeIndex = Callable[[], VectorIndex]


@pytest.fixture(scope="session")
def make_edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeIndex]:
    """Give one empty index again and again, for making and closing one takes 0.6 s.

    An emptied index answers as a new one does, or the test of congruence fails.
    """
    made: list[EdgeIndex] = []

    def make() -> VectorIndex:
        try:
            for collection in Collection:
                made[-1].delete(collection, made[-1].match(collection, where=IndexFilter(), limit=100_000))
        except (IndexError, IndexUnavailable):  # there is none yet, or a test closed it
            made.append(EdgeIndex(tmp_path_factory.mktemp("edge"), DIMENSION))
        return made[-1]

    yield make
    for index in made:
        index.close()


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


@pytest.fixture(params=["edge", "local"])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    make: MakeIndex = request.getfixturevalue(f"make_{request.param}")
    return make()
