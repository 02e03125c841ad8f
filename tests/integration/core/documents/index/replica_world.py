"""What the replica tests are made of: writers, watched feeds and watched indexes over one real database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.generations import Generations
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.port import LentIndex, VectorIndex
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.documents.index.shared import SharedReplica
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import FeedPage, IndexFilter, IndexHit, IndexRecord
from skillroute.core.documents.replica_port import ChangeFeed, IndexReplica
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.postgres.database import Session
from skillroute.core.postgres.pool import Pool
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.wiring.index import make_feed

from tests.conftest import url_as
from tests.doubles import EdgeIndexes
from tests.integration.rows import EAST, MODEL, Sql, item_row

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
ALL = IndexFilter()
Shared = TypeVar("Shared", bound=SharedReplica)


class WatchedIndex:
    """An index that writes down what is written to it, and refuses to be used once it is closed."""

    def __init__(self, inner: VectorIndex, on_close: Callable[[], None] = lambda: None) -> None:
        self._inner = inner
        self._on_close = on_close
        self.closed = False
        self.closes = 0
        self.is_shared = False  # by several replicas of a server
        self.fault: Exception | None = None
        self.search_fault: Exception | None = None
        self.read_faults: dict[str, Exception] = {}  # of `match`, `payloads` and `count`, by name
        self.upserts: list[str] = []
        self.deletes: list[str] = []
        self.vectors: list[tuple[float, ...]] = []

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        assert not self.closed
        if self.fault is not None:
            raise self.fault
        self._inner.upsert(collection, records)
        self.upserts += [record.payload.get("name", record.key) for record in records]
        self.vectors += [tuple(record.vector) for record in records if record.vector is not None]

    def search(self, *args: Any, **options: Any) -> list[IndexHit]:
        assert not self.closed
        if self.search_fault is not None:
            raise self.search_fault
        return self._inner.search(*args, **options)

    def match(self, *args: Any, **options: Any) -> list[str]:
        self._fail("match")
        return self._inner.match(*args, **options)

    def payloads(self, *args: Any) -> dict[str, Mapping[str, Any]]:
        self._fail("payloads")
        return self._inner.payloads(*args)

    def count(self, *args: Any, **options: Any) -> int:
        self._fail("count")
        return self._inner.count(*args, **options)

    def _fail(self, name: str) -> None:
        assert not self.closed
        if name in self.read_faults:
            raise self.read_faults[name]

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        assert not self.closed
        self._inner.delete(collection, keys)
        self.deletes += keys

    def close(self) -> None:
        self.closes += 1
        if self.is_shared:
            return
        assert not self.closed
        self.closed = True
        self._on_close()

    def __getattr__(self, name: str) -> Any:
        assert not self.closed, "an index was used after it had been closed"
        return getattr(self._inner, name)


class WatchedFeed:
    """The real feed, with a count of its looks and hooks at the moments where others can come in between."""

    def __init__(self, pool: Pool) -> None:
        self._inner = make_feed(pool)
        self.polls = 0
        self.before_poll: Callable[[], None] = lambda: None
        self.before_load: Callable[[], None] = lambda: None
        self.after_load: Callable[[], None] = lambda: None
        self.before_load_all: Callable[[], None] = lambda: None
        self.after_load_all: Callable[[], None] = lambda: None

    def poll(self, position: str) -> FeedPage:
        self.before_poll()
        self.polls += 1
        return self._inner.poll(position)

    def lag(self, position: str) -> int:
        return self._inner.lag(position)

    def load(self, collection: Collection, keys: Sequence[str], model: EmbeddingModel) -> list[IndexRecord]:
        self.before_load()
        records = self._inner.load(collection, keys, model)
        self.after_load()
        return records

    def load_all(
        self, collection: Collection, model: EmbeddingModel, after: str | None = None
    ) -> Iterator[list[IndexRecord]]:
        self.before_load_all()
        yield from self._inner.load_all(collection, model, after)
        if collection is TOOLS:
            self.after_load_all()

    def count(self) -> int:
        return self._inner.count()


class FollowedReplica(SharedReplica):
    """A search's view of a server that a writer brings up to date right before each look, as after a commit."""

    writer: SharedReplica

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        self.writer.catch_up(20)
        with super().current(on_stale) as index:
            yield index


class World:
    """A database with writers, and replicas of one kind that follow it, with the rights of a search (docs/adr/0031).

    Attributes
    ----------
    configured : EmbeddingModel or None
        The model that the replicas are configured with.
    feed : WatchedFeed
        The one of the first replica; each has its own.
    """

    def __init__(self, url: str, *, edges: EdgeIndexes | None = None, server: QdrantIndex | None = None) -> None:
        self.url = url
        self.pool = Pool(url)
        self.searching = Pool(url_as("reader", url))
        self.writing = Pool(url_as("writer", url))
        self.database = self.pool
        self.configured: EmbeddingModel | None = MODEL
        self.indexes: list[WatchedIndex] = []
        self.feeds: list[WatchedFeed] = []
        self.make_fault: Exception | None = None
        self._edges = edges
        self._server = server
        self._watched: dict[tuple[str, bool], WatchedIndex] = {}
        self._replicas: list[IndexReplica] = []
        self._connections: list[Sql] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for replica in self._replicas:
            replica.close()
        for connection in self._connections:
            connection.close()
        self.pool.close()
        self.searching.close()
        self.writing.close()

    # Replicas

    def embedded_replica(self, **options: Any) -> EmbeddedReplica:
        self.feeds.append(WatchedFeed(self.searching))
        replica = EmbeddedReplica(self.feeds[-1], self._make_index, lambda: self.configured, **options)
        self._replicas.append(replica)
        return replica

    def shared_replica(self) -> FollowedReplica:
        replica = self._shared(FollowedReplica, self.searching, make_feed(self.searching))
        replica.writer = self.shared_writer()
        return replica

    def shared_writer(self, **options: Any) -> SharedReplica:
        """Return what a writer, or the relay, brings the server up to date with."""
        self.feeds.append(WatchedFeed(self.writing))
        return self._shared(SharedReplica, self.writing, self.feeds[-1], **options)

    def shared_search(self) -> SharedReplica:
        """Return what a search asks, as it is when nobody catches up."""
        return self._shared(SharedReplica, self.searching, make_feed(self.searching))

    def _shared(self, kind: type[Shared], pool: Pool, feed: ChangeFeed, **options: Any) -> Shared:
        generations = Generations(pool, "qdrant:")
        replica = kind(feed, generations, self._open_server, lambda: self.configured, **options)
        self._replicas.append(replica)
        return replica

    def replica(self) -> IndexReplica:
        return self.embedded_replica() if self._server is None else self.shared_replica()

    def _open_server(self, model: EmbeddingModel, number: int, to_fill: bool) -> Any:
        assert self._server is not None
        prefix = f"{model.name}-{model.dimension}-{number}-"
        if (prefix, to_fill) not in self._watched:
            index = QdrantIndex(self._server._client, model.dimension, prefix, makes_collections=to_fill)
            self.indexes.append(WatchedIndex(index))
            self.indexes[-1].is_shared = True
            self._watched[prefix, to_fill] = self.indexes[-1]
        return self._watched[prefix, to_fill]

    def _make_index(self, model: EmbeddingModel) -> WatchedIndex:
        if self.make_fault is not None:
            raise self.make_fault
        assert self._edges is not None
        edges, index = self._edges, self._edges.take(model.dimension)
        self.indexes.append(WatchedIndex(index, on_close=lambda: edges.give_back(index)))
        return self.indexes[-1]

    @property
    def feed(self) -> WatchedFeed:
        return self.feeds[0]

    def forget(self) -> None:
        """Forget what was written to the indexes so far."""
        for index in self.indexes:
            index.upserts.clear()
            index.deletes.clear()

    @property
    def upserts(self) -> list[str]:
        """The names of all that was written to the indexes, in order."""
        return [name for index in self.indexes for name in index.upserts]

    def restart(self) -> None:
        """Have replicas that are made from now on open the server's collections for themselves."""
        self._watched.clear()

    # Writers

    def connect(self) -> Sql:
        """Return a connection that can hold a transaction open."""
        self._connections.append(Sql(self.url))
        return self._connections[-1]

    def put(self, name: str, description: str = "", vector: Vector | None = None, model: EmbeddingModel = MODEL) -> int:
        """Create or change an item, and return its id once that is committed."""
        row = item_row(name, EAST if vector is None else vector, description=description)

        def write(session: Session) -> int:
            IndexStateRepository(session).claim(model)
            return ItemRepository(session).upsert(None, model, [row])[row.content.key].id

        return self.database.transact(write)

    def delete(self, item_id: int) -> None:
        assert self.database.transact(lambda session: ItemRepository(session).delete(item_id, None))

    def reindex(self, model: EmbeddingModel = MODEL, *, is_retired: bool = False) -> None:
        """Switch to a model; with `is_retired` the former one is out of use at once."""

        def switch(session: Session) -> None:
            IndexStateRepository(session).begin(model)
            assert IndexStateRepository(session).switch(model)

        self.database.transact(switch)
        if is_retired:
            self.database.transact(lambda session: IndexStateRepository(session).prune_models(older_than_s=-1.0))


def seen(replica: IndexReplica) -> dict[str, str]:
    """Search: names and descriptions of all tools that the replica lends."""
    with replica.current() as index:
        return content(index)


def content(index: VectorIndex) -> dict[str, str]:
    payloads = index.payloads(TOOLS, index.match(TOOLS, where=ALL, limit=100_000))
    return {payload["name"]: payload["description"] for payload in payloads.values()}


class Step:
    """A place in a thread: it stops there, tells that it is there, and goes on when it is told to.

    Only the first to come here stops, and only once the step is armed.
    """

    def __init__(self) -> None:
        self._here = threading.Event()
        self._go_on = threading.Event()
        self._armed = True

    def __call__(self) -> None:
        if self._armed:
            self._armed = False
            self._here.set()
            assert self._go_on.wait(20)

    def wait(self) -> None:
        """Return when the other thread is there."""
        assert self._here.wait(20)

    def go_on(self) -> None:
        self._go_on.set()
