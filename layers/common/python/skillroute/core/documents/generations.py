"""Where the generations of an index on a server are kept, and how far each has come (docs/adr/0034)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillroute.core.documents.collection import collections
from skillroute.core.documents.index.scripts import CUT
from skillroute.core.documents.model import Models
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import DatabaseUnavailable, OutcomeUnknown
from skillroute.core.postgres.database import Session
from skillroute.core.postgres.pool import Pool

T = TypeVar("T")

_GRACE_S = 600.0
"""How long a generation is kept after a newer one is ready: searches that began on it have long ended then."""


@dataclass(frozen=True, slots=True)
class Served:
    """The generation that a search is answered from.

    Attributes
    ----------
    models : Models
        Those of the stored vectors.
    number : int or None
        The newest generation that is whole; None while there is none.
    model : EmbeddingModel or None
        The generation's.
    seen : str or None
        How far it has read the feed.
    is_current : bool
        Whether it holds every change committed before the look.
    is_filling : bool
        Whether another one is being filled.
    """

    models: Models
    number: int | None
    model: EmbeddingModel | None
    seen: str | None
    is_current: bool
    is_filling: bool


@dataclass(frozen=True, slots=True)
class Generation:
    """Collections on the server, and how far they have come.

    Attributes
    ----------
    cut : int
        The version of how its texts were cut into words (`index/scripts.py`).
    seen : str or None
        What it holds for certain: everything that this position saw. None while it is being filled.
    target : str or None
        What it will have seen once all that is being carried over is there; None when nothing is.
    after : (collection, key) or None
        How far that has come; key None is the beginning of a collection.
    is_superseding : bool
        Whether it has been ready for so long that older ones are needed no more.
    can_follow : bool
        False when changes that it has not seen were pruned, or the database was restored to an earlier moment.
    """

    number: int
    model: EmbeddingModel
    epoch: str
    cut: int
    seen: str | None
    target: str | None
    after: tuple[str, str | None] | None
    is_ready: bool
    is_superseding: bool = False
    can_follow: bool = True


class Generations:
    """The generations of one index."""

    def __init__(self, pool: Pool, index_name: str) -> None:
        self._pool = pool
        self._index_name = index_name

    def served(self, own: EmbeddingModel | None) -> Served:
        """Return what a search is answered from, of a process that embeds with `own`."""
        row = self._pool.read(
            lambda c: c.run(
                "served_generation",
                index_name=self._index_name,
                model=own.name if own else None,
                dimension=own.dimension if own else None,
            )
        )[0]
        current, current_dimension, previous, previous_dimension = row[:4]
        number, model, dimension, seen, is_current, is_filling = row[4:]
        return Served(
            models=Models(
                current=EmbeddingModel(current, current_dimension) if current else None,
                previous=EmbeddingModel(previous, previous_dimension) if previous else None,
            ),
            number=number,
            model=EmbeddingModel(model, dimension) if model else None,
            seen=seen,
            is_current=bool(is_current),
            is_filling=is_filling,
        )

    def locked(self, work: Callable[[LockedGenerations | None], T]) -> T:
        """Run `work` with the generations locked, and store what it did; with None when another is at it.

        It may run twice: it is a page that is carried over once more.
        """

        def locked_work(session: Session) -> T:
            [[is_mine]] = session.run("lock_generations", index_name=self._index_name)
            return work(LockedGenerations(session, self._index_name) if is_mine else None)

        try:
            return self._pool.transact(locked_work)
        except OutcomeUnknown as error:  # a lost COMMIT is no more than a lost connection here
            raise DatabaseUnavailable(str(error)) from error


class LockedGenerations:
    """The generations of one index, locked against changes."""

    def __init__(self, session: Session, index_name: str) -> None:
        self._run = session.run
        self._index_name = index_name

    def all(self) -> list[Generation]:
        """Return all of them, the newest last."""
        rows = self._run("index_generations", index_name=self._index_name, grace_s=_GRACE_S)
        return [
            Generation(
                number, EmbeddingModel(model, dimension), epoch, cut, seen, target, after and (after, key), *flags
            )
            for number, model, dimension, epoch, cut, seen, target, after, key, *flags in rows
        ]

    def add(self, model: EmbeddingModel, epoch: str, target: str) -> None:
        """Begin a new one."""
        self._run(
            "add_generation",
            index_name=self._index_name,
            model=model.name,
            dimension=model.dimension,
            epoch=epoch,
            cut=CUT,
            target=target,
        )

    def save(self, generation: Generation) -> int:
        """Store how far one has come; return the milliseconds since it was begun."""
        after_collection, after_key = generation.after or (None, None)
        [[elapsed_ms]] = self._run(
            "save_generation",
            index_name=self._index_name,
            generation=generation.number,
            seen=generation.seen,
            target=generation.target,
            after_collection=after_collection,
            after_key=after_key,
            is_ready=generation.is_ready,
        )
        return int(elapsed_ms)

    def forget(self, number: int) -> None:
        """Forget one whose collections have been dropped."""
        self._run("forget_generation", index_name=self._index_name, generation=number)

    def unseen(self, position: str, after: tuple[str, str | None] | None, limit: int) -> Sequence[tuple[str, str]]:
        """Return a page of the changes that a position did not see, as collections and keys in their order."""
        after_collection, after_key = after or ("", "")
        rows = self._run(
            "unseen_changes",
            position=position,
            after_collection=after_collection,
            after_key=after_key or "",
            limit=limit,
        )
        return [(collection, key) for collection, key in rows]


KNOWN = frozenset(collection.value for collection in collections())
"""A collection that this version does not know is one that it does not search: migrations go first."""
