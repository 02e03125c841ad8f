"""What is shared by all that embeds: which model may be written, and rows that wait for a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skillroute.domain.embedding import EmbeddingModel, Vector, weighted_mean
from skillroute.domain.tool_text import VIEW_WEIGHTS
from skillroute.errors import EmbeddingModelMismatch
from skillroute.ports import Database, EmbeddedRows, Embedder, EmbeddingTask, Session

BATCH = 64
"""Texts embedded and stored at a time: small enough that a killed process loses seconds of work."""

Rows = Callable[[Session], EmbeddedRows]
"""Picks the repository whose rows are embedded."""

NextTasks = Callable[[EmbeddedRows, str], list[EmbeddingTask]]
"""Reads the next rows to embed after an id."""


def check_model(session: Session, model: EmbeddingModel) -> None:
    """Refuse to go on when the stored vectors are of another model. Raises `EmbeddingModelMismatch`."""
    _require_same(session.index_state.stored_model(), model)


def claim_model(session: Session, model: EmbeddingModel) -> None:
    """Make sure, within a transaction, that vectors of `model` may be written. Raises `EmbeddingModelMismatch`."""
    # Claimed before it is looked at: looking holds the row, and two first writers that both hold it would deadlock.
    session.index_state.claim(model)
    _require_same(session.index_state.model(), model)


def _require_same(stored: EmbeddingModel | None, model: EmbeddingModel) -> None:
    if stored is not None and stored != model:
        raise EmbeddingModelMismatch(stored=str(stored), configured=str(model))


def embed_views(embedder: Embedder, views: Sequence[Sequence[str]], *, timeout_s: float) -> list[Vector]:
    """Embed things that have several texts each: one vector a thing, the weighted mean of its texts' vectors.

    Parameters
    ----------
    views : sequence of texts
        At least one text each; they count as `tool_text.VIEW_WEIGHTS` says.

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
