"""Helpers of all that embeds: which model may be written, and rows that wait for a vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.stored_model import require_in_use
from skillroute.core.documents.texts import EmbeddingTask
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.views import Refusal, embed_or_refuse
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline

BATCH = 128
"""Documents embedded and stored at a time: small enough that a killed process loses seconds of work.

Texts of one length go through the model together, and among more documents more texts have the same (docs/adr/0056).
"""

Rows = Callable[[Session], DocumentRepository]
"""Picks the repository whose rows are embedded."""

NextTasks = Callable[[DocumentRepository, str], list[EmbeddingTask]]
"""Reads the next rows to embed after an id."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Documents of one transaction that may have no vector after it.

    Attributes
    ----------
    what : str
        What they are, for the log: ``items``.
    is_own : bool
        Whether they are what the call wrote, rather than what belongs to it.
    """

    collection: Collection
    ids: Sequence[int]
    what: str
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of embedding documents right after their commit.

    Attributes
    ----------
    stored : int
        Vectors and refusals that were written.
    complete : bool
        False when some wait for the relay.
    refused : set of str
        The keys of those that the model refuses, now or before; these wait for nobody.
    """

    stored: int = 0
    complete: bool = True
    refused: frozenset[str] = frozenset()


def embed_within(
    embedder: Embedder, views: Sequence[Sequence[str]], deadline: Deadline, *, what: str
) -> list[Vector | Refusal]:
    """Embed things that were written, or are about to be: the first ones, as many as there is a model and time for.

    The others are left to the relay, which the log reports and the number of results shows.

    Parameters
    ----------
    views : sequence of texts
        As `embed_views` takes them.
    deadline : Deadline
        One of no time at all asks for nothing: what is only tried is not embedded.
    what : str
        What they are, for the log: ``items``.
    """
    made: list[Vector | Refusal] = []
    if deadline.timeout_s <= 0.0:
        return made
    # Batch by batch: what was embedded before the time was up is not embedded again.
    for start in range(0, len(views), BATCH):
        some, failure = embed_or_refuse(embedder, views[start : start + BATCH], deadline.left_s)
        made += some
        if failure is not None:
            log_unembedded(what, len(views) - len(made), failure)
            break
    log_refused(what, made)
    return made


def embed_committed(database: Database, embedder: Embedder, waiting: Waiting, deadline: Deadline | None) -> Embedded:
    """Give vectors to documents right after the commit that left them without. It never raises a `SkillrouteError`.

    Parameters
    ----------
    deadline : Deadline or None
        None: the model has just failed, so that the documents are left to the relay.
    """
    if not waiting.ids:
        return Embedded()
    what, rows, keys = waiting.what, DocumentRepository.of(waiting.collection), [str(id_) for id_ in waiting.ids]
    tasks: Sequence[EmbeddingTask] = ()
    refused: set[str] = set()
    try:
        model = embedder.model
        if deadline is None:
            refused = database.read(lambda session: rows(session).refused(keys, model))
            return Embedded(complete=False, refused=frozenset(refused))
        tasks, refused = database.read(
            lambda session: (rows(session).tasks(keys, model), rows(session).refused(keys, model))
        )
        made = embed_within(embedder, [task.texts for task in tasks], deadline, what=what)
        pairs = list(zip(tasks, made, strict=False))
        store_made(database, rows, model, pairs)
    except SkillrouteError as error:
        # What was written stays written and must not be reported as an error: the relay embeds it.
        log_unembedded(what, len(tasks), error)
        return Embedded(complete=False, refused=frozenset(refused))
    refused |= {task.id for task, vector in pairs if isinstance(vector, Refusal)}
    return Embedded(len(pairs), complete=len(pairs) == len(tasks), refused=frozenset(refused))


def store_made(
    database: Database,
    rows: Rows,
    model: EmbeddingModel,
    made: Sequence[tuple[EmbeddingTask, Vector | Refusal]],
) -> None:
    """Store vectors and refusals in one transaction, and each whose document is locked by a writer in one of its own.

    So no transaction waits for a document while it has locked another one, and the batch does not wait for one of it.

    Raises
    ------
    EmbeddingModelMismatch
        The model is out of use, and the rest was not stored.
    """

    def store(session: Session) -> set[str]:
        require_in_use(session, model)
        session.note_news()
        return rows(session).set_embeddings(model, made)

    def store_one(session: Session, task: EmbeddingTask, one: Vector | Refusal) -> None:
        require_in_use(session, model)
        rows(session).lock([task.id])
        rows(session).set_embeddings(model, [(task, one)])
        session.note_news()

    locked = database.transact(store) if made else ()
    for task, one in made:
        if task.id in locked:
            database.transact(lambda session, task=task, one=one: store_one(session, task, one))  # type: ignore[misc]


def log_unembedded(what: str, number: int, error: SkillrouteError) -> None:
    """Log that things are stored without a vector, which the relay will give them."""
    logger.warning("%s stored without embedding", what, extra={what: number, "reason": str(error)})
    count(Metric.EMBEDDING_FAILED)


def log_refused(what: str, made: Iterable[Vector | Refusal]) -> None:
    """Log that the model does not take the texts of things, which are found by their words until they have others."""
    reasons = [vector.reason for vector in made if isinstance(vector, Refusal)]
    if reasons:
        logger.warning("%s refused by the embedding model", what, extra={what: len(reasons), "reason": reasons[0]})
        count(Metric.EMBEDDING_REFUSED, len(reasons))


def embed_rows(
    database: Database,
    embedder: Embedder,
    collection: Collection,
    next_tasks: NextTasks,
    *,
    timeout_s: float,
    progress: Callable[[int], None] = lambda _: None,
) -> list[str]:
    """Embed a collection's documents until none is left, batch by batch, and return the ids of those that got a vector.

    What is done stays done: after an interruption the next run goes on where this one ended. Rows whose texts the model
    refuses are done as well: that is stored with them, and they are not asked for again.

    Parameters
    ----------
    timeout_s : float
        The most that a batch may take.
    progress : callable
        Called with the number of rows of each batch.

    Raises
    ------
    EmbeddingUnavailable, DatabaseUnavailable
    EmbeddingModelMismatch
        The model went out of use meanwhile.
    """
    rows = DocumentRepository.of(collection)
    embedder = collection.embedder_of(embedder)
    done: list[str] = []
    after = ""
    while tasks := database.read(lambda session: next_tasks(rows(session), after)):  # noqa: B023 (called at once)
        deadline = Deadline(timeout_s, callee=EMBEDDING_MODEL)
        made, failure = embed_or_refuse(embedder, [task.texts for task in tasks], deadline.left_s)
        log_refused("rows", made)
        pairs = list(zip(tasks, made, strict=False))
        store_made(database, rows, embedder.model, pairs)
        if failure is not None:
            raise failure
        after = tasks[-1].id
        done += [task.id for task, vector in pairs if not isinstance(vector, Refusal)]
        progress(len(tasks))
    return done
