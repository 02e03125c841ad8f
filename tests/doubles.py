"""Fakes for the ports: vectors out of a table, and wrappers that fail, or are slow, when a test says so.

Every wrapper stands before a real part and hands everything through until it is told otherwise.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import FeedPage, IndexFilter, IndexHit, IndexRecord
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.errors.model import (
    Conflict,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    IndexUnavailable,
    SkillrouteError,
    TextRefused,
)
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.classification.model import (
    Classification,
    ProposedAssignment,
    SkillDraft,
    SkillProfile,
    ToolProfile,
)
from skillroute.skills.model import AssignmentSource

T = TypeVar("T")

DIMENSION = 8


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def at(cosine: float, axis: int = 1) -> Vector:
    """Return a unit vector whose cosine to `TableEmbedder`'s usual vector is `cosine`, the rest along `axis`."""
    vector = [0.0] * DIMENSION
    vector[0] = cosine
    vector[axis] = math.sqrt(1.0 - cosine * cosine)
    return vector


class TypedEmbedder:
    """Gives every text of tools one vector, and every message another, at a right angle to it."""

    def __init__(self, *, name: str = "typed", axis: int = 2) -> None:
        self._axis = axis
        self.model = EmbeddingModel(name, DIMENSION)

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return [at(0.0, self._axis) for _ in texts]

    def for_messages(self) -> TypedEmbedder:
        return TypedEmbedder(name=self.model.name, axis=3)


class TableEmbedder:
    """Gives chosen texts chosen vectors, and every other text the same one: the first axis."""

    def __init__(self, table: Mapping[str, Vector] | None = None, *, name: str = "table") -> None:
        self.table = dict(table or {})
        self._model = EmbeddingModel(name, DIMENSION)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return [self.table.get(text, at(1.0)) for text in texts]


@dataclass(frozen=True)
class EmbedCall:
    texts: list[str]
    timeout_s: float


class WatchedEmbedder:
    """Writes down what an embedder is asked; fails, or takes its time on a fake clock, when told to.

    Attributes
    ----------
    away : bool
        Raises `EmbeddingUnavailable` at once.
    refuses : callable
        Tells of a text whether the model refuses it for good, and everything that is asked for beside it.
    takes_s : float
        Seconds that a call takes on `clock`. As the port demands, it gives up once the caller's limit is reached.
    """

    def __init__(self, inner: Embedder, clock: FakeClock | None = None) -> None:
        self._inner = inner
        self._clock = clock or FakeClock()
        self.away = False
        self.refuses: Callable[[str], bool] = lambda text: False
        self.takes_s = 0.0
        self.calls: list[EmbedCall] = []

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    @property
    def texts(self) -> list[str]:
        """All texts that were asked for, in order."""
        return [text for call in self.calls for text in call.texts]

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return self.ask(self._inner, texts, timeout_s)

    def for_messages(self) -> Embedder:
        of_messages = message_embedder(self._inner)
        return self if of_messages is self._inner else _WatchedForMessages(self, of_messages)

    def ask(self, inner: Embedder, texts: Sequence[str], timeout_s: float) -> list[Vector]:
        self.calls.append(EmbedCall(list(texts), timeout_s))
        if self.away:
            raise EmbeddingUnavailable("the embedding model is away")
        self._clock.advance(min(self.takes_s, timeout_s))
        if self.takes_s > timeout_s:
            raise EmbeddingUnavailable(f"no embedding within {timeout_s:g} s")
        refused = [text for text in texts if self.refuses(text)]
        if refused:
            raise TextRefused(f"answered 400: the model does not take {refused!r}")
        return inner.embed(texts, timeout_s=timeout_s)


class WordReranker:
    """Gives a text the logit of the first of its words that it knows, and every other text 0.

    Attributes
    ----------
    asked : list
        Query, texts and time limit of each call.
    error : SkillrouteError or None
        Raised instead of an answer.
    """

    name = "word/reranker"

    def __init__(self, logits: Mapping[str, float]) -> None:
        self._logits = logits
        self.asked: list[tuple[str, list[str], float]] = []
        self.error: SkillrouteError | None = None

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        self.asked.append((query, list(texts), timeout_s))
        if self.error is not None:
            raise self.error
        return [next((logit for word, logit in self._logits.items() if word in text), 0.0) for text in texts]


class _WatchedForMessages:
    def __init__(self, watched: WatchedEmbedder, inner: Embedder) -> None:
        self._watched = watched
        self._inner = inner
        self.model = inner.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return self._watched.ask(self._inner, texts, timeout_s)


@dataclass(frozen=True)
class IndexCall:
    method: str
    collection: Collection
    where: IndexFilter | None = None
    limit: int | None = None
    threshold: float | None = None


_RANKED = ("search", "search_each", "search_text", "search_terms")


class FaultyIndex:
    """A `VectorIndex` that writes down its searches and raises what `faults` says, by method and collection.

    Attributes
    ----------
    calls_left : int or None
        After so many calls its engine is broken for good; None: it is sound.
    """

    def __init__(self, inner: VectorIndex, on_close: Callable[[], object] = lambda: None) -> None:
        self._inner = inner
        self._on_close = on_close
        self.faults: dict[tuple[str, Collection], SkillrouteError] = {}
        self.calls: list[IndexCall] = []
        self.calls_left: int | None = None

    def fail(self, collection: Collection, error: SkillrouteError) -> None:
        """Make every search of a collection fail."""
        self.faults |= dict.fromkeys([(method, collection) for method in _RANKED], error)

    def searches(self, collection: Collection) -> list[IndexCall]:
        """Return the ranked searches of a collection."""
        return [c for c in self.calls if c.collection is collection and c.method in _RANKED]

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        self._called(IndexCall("upsert", collection))
        self._inner.upsert(collection, records)

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        self._called(IndexCall("delete", collection))
        self._inner.delete(collection, keys)

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        self._called(IndexCall("search", collection, where, limit, threshold))
        return self._inner.search(collection, vector, where=where, limit=limit, threshold=threshold)

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        self._called(IndexCall("search_each", collection, where, limit))
        return self._inner.search_each(collection, vectors, where=where, limit=limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        self._called(IndexCall("search_terms", collection, where, limit))
        return self._inner.search_terms(collection, weights, where=where, limit=limit)

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        self._called(IndexCall("search_text", collection, where, limit))
        return self._inner.search_text(collection, text, where=where, limit=limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        self._called(IndexCall("match", collection, where, limit))
        return self._inner.match(collection, where=where, limit=limit)

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        self._called(IndexCall("payloads", collection, limit=len(keys)))
        return self._inner.payloads(collection, keys)

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        self._called(IndexCall("count", collection, where))
        return self._inner.count(collection, where=where)

    def close(self) -> None:
        """Leave the engine open: it is lent, see `EdgeIndexes`."""
        on_close, self._on_close = self._on_close, lambda: None
        on_close()

    def _called(self, call: IndexCall) -> None:
        self.calls.append(call)
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                raise IndexUnavailable("the engine is broken")
        error = self.faults.get((call.method, call.collection))
        if error is not None:
            raise error


class EdgeIndexes:
    """Lends embedded indexes again and again, emptied: making one takes 0.3 s, a test does not.

    Each is lent to one at a time: a replica that builds another index goes on answering from the one it has. An open
    index is 140 MB of mapped files and 32 threads, so of those that came back only the last few stay open.
    """

    kept = 2

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made = 0
        self._lent: dict[VectorIndex, tuple[int, str]] = {}  # their dimensions, and to whom
        self._free: list[tuple[int, VectorIndex]] = []
        self._folders: dict[VectorIndex, Path] = {}

    def lend(self, model: EmbeddingModel) -> FaultyIndex:
        index = self.take(model.dimension)
        return FaultyIndex(index, on_close=lambda: self.give_back(index))

    def take(self, dimension: int) -> VectorIndex:
        """Return an empty index, which is then to be given back."""
        index = self._emptied(dimension) or self._make(dimension)
        self._lent[index] = dimension, os.environ.get("PYTEST_CURRENT_TEST", "nobody")
        return index

    def give_back(self, index: VectorIndex) -> None:
        """Take an index back with whatever is in it."""
        dimension, _ = self._lent.pop(index)
        self._free.append((dimension, index))
        if len(self._free) > self.kept:
            self._discard(self._free.pop(0)[1])

    def _discard(self, index: VectorIndex) -> None:
        """Close an index and remove its files: 200 MB of memory, where the folder is kept in memory."""
        index.close()
        shutil.rmtree(self._folders.pop(index))

    def close(self) -> None:
        """Close all that are open; what was not given back would have stayed open until now."""
        for index in [*(index for _, index in self._free), *self._lent]:
            index.close()
        assert not self._lent, f"not given back: {sorted(test for _, test in self._lent.values())}"

    def _emptied(self, dimension: int) -> VectorIndex | None:
        for free in reversed([free for free in self._free if free[0] == dimension]):
            self._free.remove(free)
            try:
                for collection in collections():
                    free[1].delete(collection, free[1].match(collection, where=IndexFilter(), limit=100_000))
            except IndexUnavailable:  # a test closed it
                self._discard(free[1])
                continue
            return free[1]
        return None

    def _make(self, dimension: int) -> VectorIndex:
        from skillroute.core.documents.index.edge import EdgeIndex

        self._made += 1
        directory = self._directory / f"{dimension}-{self._made}"
        directory.mkdir()
        index = EdgeIndex(directory, dimension)
        self._folders[index] = directory
        return index


class FaultyFeed:
    """A `ChangeFeed` whose database can go down."""

    def __init__(self, inner: ChangeFeed) -> None:
        self._inner = inner
        self.down = False
        self.polls = 0

    def poll(self, position: str) -> FeedPage:
        self.polls += 1
        self._check()
        return self._inner.poll(position)

    def lag(self, position: str) -> int:
        self._check()
        return self._inner.lag(position)

    def load(self, collection: Collection, keys: Sequence[str], model: EmbeddingModel) -> list[IndexRecord]:
        self._check()
        return self._inner.load(collection, keys, model)

    def load_all(
        self, collection: Collection, model: EmbeddingModel, after: str | None = None
    ) -> Iterator[list[IndexRecord]]:
        self._check()
        return self._inner.load_all(collection, model, after)

    def count(self) -> int:
        self._check()
        return self._inner.count()

    def _check(self) -> None:
        if self.down:
            raise DatabaseUnavailable("PostgreSQL cannot be reached")


class FaultyDatabase:
    """A `Database` that can be down, and that writes down which items' schemas are loaded.

    Its hooks are called before a read, before a transaction begins, and when all is written and nothing committed.
    """

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.down = False
        self.calls = 0
        self.schema_loads: list[list[int]] = []
        self.before_read: Callable[[], None] = lambda: None
        self.before_transact: Callable[[], None] = lambda: None
        self.before_commit: Callable[[], None] = lambda: None

    def read(self, work: Callable[[Session], T]) -> T:
        self._called()
        self.before_read()
        return self._inner.read(lambda session: work(_Watched(session, self.schema_loads)))

    def snapshot(self, work: Callable[[Session], T]) -> T:
        self._called()
        self.before_read()
        return self._inner.snapshot(work)

    def transact(self, work: Callable[[Session], T]) -> T:
        self._called()
        self.before_transact()

        def watched(session: Session) -> T:
            result = work(session)
            self.before_commit()
            return result

        return self._inner.transact(watched)

    def taken_back(self, work: Callable[[Session], T]) -> T:
        self._called()
        self.before_transact()
        return self._inner.taken_back(work)

    def together(self) -> AbstractContextManager[None]:
        return self._inner.together()

    def _called(self) -> None:
        self.calls += 1
        if self.down:
            raise DatabaseUnavailable("PostgreSQL cannot be reached")


class _Watched:
    """A session that writes down which items' schemas are loaded."""

    def __init__(self, session: Session, loads: list[list[int]]) -> None:
        self._session = session
        self._loads = loads

    def run(self, name: str, /, **params: Any) -> list[list[Any]]:
        if name == "item_schemas":
            self._loads.append(list(params["ids"]))
        return self._session.run(name, **params)

    def savepoint(self) -> AbstractContextManager[None]:
        return self._session.savepoint()

    @property
    def has_news(self) -> bool:
        return self._session.has_news

    def note_news(self) -> None:
        self._session.note_news()


class ScriptedClassifier:
    """A `Classifier` that answers what a test wrote down for a tool's name, and that nothing fits for every other.

    Attributes
    ----------
    answers : dict of str to Classification, or SkillrouteError
        By the tool's name; an error is raised.
    asked : list of (tool, skills)
    while_asked : callable
        Called with the tool before each answer: what happens while a classifier thinks.
    """

    def __init__(
        self,
        answers: Mapping[str, Classification | SkillrouteError] | None = None,
        *,
        name: str = "scripted",
        source: AssignmentSource = AssignmentSource.LLM_AUTO,
        concurrency: int = 1,
    ) -> None:
        self.answers = dict(answers or {})
        self.name = name
        self.source = source
        self.concurrency = concurrency
        self.asked: list[tuple[ToolProfile, Sequence[SkillProfile]]] = []
        self.while_asked: Callable[[ToolProfile], None] = lambda tool: None

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        self.asked.append((tool, skills))
        self.while_asked(tool)
        answer = self.answers.get(tool.name, Classification(()))
        if isinstance(answer, SkillrouteError):
            raise answer
        return answer


def proposing(suggest: str | SkillDraft | None = None, **confidences: float) -> Classification:
    """Return a classifier's answer: skills with their confidences, or a new skill of this name."""
    draft = SkillDraft(suggest, f"Tools for {suggest}.", "nothing fits") if isinstance(suggest, str) else suggest
    return Classification(
        tuple(ProposedAssignment(id_, sure, f"because of {id_}") for id_, sure in confidences.items()), draft
    )


class FakeChat:
    """A `ChatModel` that gives one answer, or raises it, and writes down what it was asked.

    Attributes
    ----------
    while_asked : callable
        Called before each answer: what happens while the model thinks.
    """

    name = "fake/chat"

    def __init__(self, answer: Mapping[str, Any] | SkillrouteError | None = None) -> None:
        self.reply: Mapping[str, Any] | SkillrouteError = answer or {}
        self.asked: list[tuple[str, str]] = []
        self.while_asked: Callable[[], None] = lambda: None

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        self.asked.append((instructions, question))
        self.while_asked()
        if isinstance(self.reply, SkillrouteError):
            raise self.reply
        return self.reply


class FakeNotifier:
    """A `Notifier` that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        self.events.append((event, subject, dict(details)))

    def details(self, event: str) -> list[dict[str, Any]]:
        """Return what the events of a kind carried."""
        return [details for kind, _, details in self.events if kind == event]


@dataclass
class LogRecords(logging.Handler):
    """Keeps what Skillroute logs while it is attached."""

    records: list[logging.LogRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    __hash__ = logging.Handler.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def having(self, message: str) -> list[logging.LogRecord]:
        """Return the records with this message."""
        return [record for record in self.records if record.getMessage() == message]

    @contextmanager
    def attached(self) -> Iterator[LogRecords]:
        log = logging.getLogger("skillroute")
        log.addHandler(self)
        try:
            yield self
        finally:
            log.removeHandler(self)


def in_threads(number: int, work: Callable[[int], T]) -> list[T]:
    """Run `work` in threads that all start at the same moment; return their results, raise the first error."""
    results: dict[int, T] = {}
    errors: list[BaseException] = []
    gate = threading.Barrier(number)

    def run(place: int) -> None:
        try:
            gate.wait()
            results[place] = work(place)
        except BaseException as error:  # noqa: BLE001 (raised again in the test's own thread)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[place] for place in range(number)]


def succeed_at_once(number: int, work: Callable[[int], object]) -> list[bool]:
    """Do work in threads at once and return for each whether it succeeded, the refused ones first."""

    def attempt(place: int) -> bool:
        try:
            work(place)
        except Conflict:
            return False
        return True

    return sorted(in_threads(number, attempt))


def once(work: Callable[[], object]) -> Callable[[], None]:
    """Make a hook that does its work the first time only."""
    left = [work]

    def hook() -> None:
        if left:
            left.pop()()

    return hook


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds, for 20 s at most."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)  # else it keeps the interpreter from the threads that it waits for
