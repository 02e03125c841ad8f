"""What is shared by all that embeds: which model may be written, and rows that wait for a vector."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillroute.core.clock import Clock
from skillroute.core.documents.embedded_rows import EmbeddedRows, EmbeddingTask
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import Collection
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.embedding.model import EmbeddingModel, Vector, weighted_mean
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors import EmbeddingModelMismatch, EmbeddingUnavailable, SkillrouteError
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session

BATCH = 64
"""Texts embedded and stored at a time: small enough that a killed process loses seconds of work."""

Rows = Callable[[Session], EmbeddedRows]
"""Picks the repository whose rows are embedded."""

ALL_ROWS: tuple[Rows, ...] = tuple(DocumentRepository.of(collection) for collection in Collection)
"""The documents of all collections."""

VIEW_WEIGHTS = (1.0, 0.5, 0.5)
"""How much a document's texts count towards its vector: the whole of it, and its views (docs/adr/0003)."""

NextTasks = Callable[[EmbeddedRows, str], list[EmbeddingTask]]
"""Reads the next rows to embed after an id."""


class Deadline:
    """When all embedding of one call must be over, however many steps it takes.

    Parameters
    ----------
    timeout_s : float
        Seconds from now.
    """

    def __init__(self, timeout_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._at_s = clock() + timeout_s

    def left_s(self) -> float:
        """Return the seconds that are left, more than zero. Raises `EmbeddingUnavailable` when there are none."""
        left_s = self._at_s - self._clock()
        if left_s <= 0.0:
            raise EmbeddingUnavailable("no time is left for embedding")
        return left_s


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of embedding something right after its commit.

    Attributes
    ----------
    stored : int
        Vectors that were written.
    complete : bool
        False when some wait for the relay.
    """

    stored: int = 0
    complete: bool = True


class StoredModelEmbedder:
    """An `Embedder` for documents: one whose model's vectors are not stored counts as away (docs/adr/0035).

    Parameters
    ----------
    embedder : Embedder
    database : Database
        Asked before every call which models are in use.
    """

    def __init__(self, embedder: Embedder, database: Database) -> None:
        self._embedder = embedder
        self._database = database

    @property
    def model(self) -> EmbeddingModel:
        """That of the embedder."""
        return self._embedder.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts. Raises `EmbeddingModelMismatch`, and what the embedder raises."""
        self._database.read(lambda session: require_in_use(session, self._embedder.model))
        return self._embedder.embed(texts, timeout_s=timeout_s)


def require_in_use(session: Session, model: EmbeddingModel) -> None:
    """Raise `EmbeddingModelMismatch` where vectors of a model are not stored."""
    models = IndexStateRepository(session).models()
    if not models.takes(model):
        raise EmbeddingModelMismatch(stored=str(models.current), configured=str(model))


def claim_model(session: Session, model: EmbeddingModel) -> None:
    """Make `model` that of the stored vectors, within a transaction, where there are none of any yet."""
    IndexStateRepository(session).claim(model)


def embed_views(embedder: Embedder, views: Sequence[Sequence[str]], *, timeout_s: float) -> list[Vector]:
    """Embed things that have several texts each: one vector a thing, the weighted mean of its texts' vectors.

    Parameters
    ----------
    views : sequence of texts
        At least one text each; they count as `VIEW_WEIGHTS` says.

    Raises
    ------
    EmbeddingUnavailable
    """
    texts = list(dict.fromkeys(text for each in views for text in each))
    vector_of = dict(zip(texts, embedder.embed(texts, timeout_s=timeout_s), strict=True)) if texts else {}
    means = (
        weighted_mean((vector_of[text], weight) for text, weight in zip(each, VIEW_WEIGHTS, strict=False))
        for each in views
    )
    # Views of one thing never cancel out to nothing; if they did, the whole text would stand for it.
    return [mean or vector_of[each[0]] for each, mean in zip(views, means, strict=True)]


def embed_within(embedder: Embedder, views: Sequence[Sequence[str]], deadline: Deadline, *, what: str) -> list[Vector]:
    """Embed things that were written, or are about to be: the first ones, as many as there is a model and time for.

    The others are left to the relay, which the log says and the count of vectors tells.

    Parameters
    ----------
    views : sequence of texts
        As `embed_views` takes them.
    what : str
        What they are, for the log: ``items``.
    """
    vectors: list[Vector] = []
    try:
        # Batch by batch: what was embedded before the time was up is not embedded again.
        for start in range(0, len(views), BATCH):
            vectors += embed_views(embedder, views[start : start + BATCH], timeout_s=deadline.left_s())
    except EmbeddingUnavailable as error:
        log_unembedded(what, len(views) - len(vectors), error)
    return vectors


def embed_committed(
    database: Database,
    embedder: Embedder,
    rows: Rows,
    tasks_of: Callable[[EmbeddingModel], Sequence[EmbeddingTask]],
    deadline: Deadline,
    *,
    what: str,
) -> Embedded:
    """Give vectors to rows right after the commit that left them without. It never raises a `SkillrouteError`."""
    tasks: Sequence[EmbeddingTask] = ()
    try:
        tasks = tasks_of(embedder.model)
        vectors = embed_within(embedder, [task.texts for task in tasks], deadline, what=what)

        def store(session: Session) -> None:
            claim_model(session, embedder.model)
            require_in_use(session, embedder.model)
            rows(session).set_embeddings(embedder.model, list(zip(tasks, vectors, strict=False)))

        if vectors:
            database.transact(store)
    except SkillrouteError as error:
        # What was written stays written and must not be reported as an error: the relay embeds it.
        log_unembedded(what, len(tasks), error)
        return Embedded(complete=False)
    return Embedded(len(vectors), complete=len(vectors) == len(tasks))


def log_unembedded(what: str, number: int, error: SkillrouteError) -> None:
    """Say that things are stored without a vector, which the relay will give them."""
    logger.warning("%s stored without embedding", what, extra={what: number, "reason": str(error)})
    count(Metric.EMBEDDING_FAILED)


def embed_rows(
    database: Database,
    embedder: Embedder,
    rows: Rows,
    next_tasks: NextTasks,
    *,
    timeout_s: float,
    progress: Callable[[int], None] = lambda _: None,
    check: Callable[[Session], None] = lambda _: None,
) -> list[str]:
    """Embed rows until none is left, batch by batch, and return their ids.

    What is done stays done: after an interruption the next run goes on where this one ended.

    Parameters
    ----------
    progress : callable
        Told how many rows each batch had.
    check : callable
        Called in each batch's transaction before its vectors are stored; raises when they must not be.
    """
    done: list[str] = []
    after = ""
    while tasks := database.read(lambda session: next_tasks(rows(session), after)):  # noqa: B023 (called at once)
        vectors = embed_views(embedder, [task.texts for task in tasks], timeout_s=timeout_s)
        pairs = list(zip(tasks, vectors, strict=True))

        def store(session: Session, pairs: list[tuple[EmbeddingTask, Vector]] = pairs) -> None:
            check(session)
            rows(session).set_embeddings(embedder.model, pairs)

        database.transact(store)
        after = tasks[-1].id
        done += [task.id for task in tasks]
        progress(len(tasks))
    return done


class EmbeddingJob:
    """What the use cases share that embed whole tables.

    Parameters
    ----------
    database, embedder
    after_commit : callable
        Sends the work that this made, and brings an index server up to date.
    timeout_s : float
        The most that one batch may take.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        after_commit: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._after_commit = after_commit
        self._timeout_s = timeout_s
