"""PostgreSQL as the index that searches borrow, and the filling of its points (docs/adr/0061).

There is nothing to follow: triggers write points with the documents. What was there before they did is filled once,
page by page, by any writer or relay that has the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.events import model_to_search
from skillroute.core.documents.index.port import LentIndex, counts
from skillroute.core.documents.model import Models
from skillroute.core.documents.replica_port import IndexStatus
from skillroute.core.documents.search_words import ToTerms, store_words
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNotReady, SkillrouteError
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import at_most_s

if TYPE_CHECKING:
    from skillroute.core.documents.index.postgres import PostgresIndex

_PAGE = 500
_LISTS_AGAIN_AFTER_S = 3600.0
_LISTED_BESIDE_WRITERS = 150_000
"""Of more vectors lists are built by `reindex` alone: writers wait for it, 10 s for so many."""

NO_EXTENSION = (
    "PostgreSQL cannot search vectors yet: it needs the extension vector (pgvector). Let an administrator install it, "
    "then run `skillroute migrate` and `skillroute reindex`"
)
NOT_FILLED = "PostgreSQL is still being filled for searches: `skillroute reindex` or the relay finishes it"


@dataclass(frozen=True, slots=True)
class SearchState:
    """Whether PostgreSQL can be searched.

    Attributes
    ----------
    has_vectors : bool
        The extension is there, and was when the database was migrated.
    is_kept : bool
        Points follow documents.
    is_filled : bool
        And there is one for each.
    """

    has_vectors: bool
    is_kept: bool
    is_filled: bool
    models: Models

    @property
    def can_answer(self) -> bool:
        """Whether searches can look here."""
        return self.has_vectors and self.is_filled


def search_state(database: Database) -> SearchState:
    """Return whether PostgreSQL can be searched, and the models of its vectors. Raises `DatabaseUnavailable`."""
    [[has_vectors, is_kept, is_filled, current, current_dimension, previous, previous_dimension]] = database.read(
        lambda session: session.run("search_state")
    )
    return SearchState(
        has_vectors,
        is_kept,
        is_filled,
        Models(
            current=EmbeddingModel(current, current_dimension) if current else None,
            previous=EmbeddingModel(previous, previous_dimension) if previous else None,
        ),
    )


class PostgresReplica:
    """`IndexReplica` over the database itself.

    Parameters
    ----------
    database : Database
    own_model : callable
        Returns the model that this process embeds with, or None while it is unknown. Its vectors are searched if
        all are there, else those of the current model.
    terms : mapping of Collection to callable
        Cut and weigh the words of collections that the index does not cut itself.
    """

    def __init__(
        self,
        database: Database,
        own_model: Callable[[], EmbeddingModel | None],
        terms: Mapping[Collection, ToTerms],
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._own_model = own_model
        self._terms = terms
        self._clock = clock

    @property
    def is_ready(self) -> bool:
        return True  # a search never builds one

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        yield self.lent()

    def lent(self) -> LentIndex:
        """Return the index as it is now. Raises `IndexNotReady` where it cannot be searched, `DatabaseUnavailable`."""
        state = search_state(self._database)
        if not state.can_answer:
            raise IndexNotReady(NOT_FILLED if state.has_vectors else NO_EXTENSION)
        return self._index(state)

    def can_answer(self) -> bool:
        """Whether PostgreSQL can be searched. Raises `DatabaseUnavailable`."""
        return search_state(self._database).can_answer

    def status(self) -> IndexStatus:
        state = search_state(self._database)
        model = state.models.to_search(self._own_model())
        return IndexStatus(
            kind="postgres",
            ready=state.can_answer,
            rebuilding=state.is_kept and not state.is_filled,
            lag=self.lag(),
            counts=counts(self._index(state)) if state.can_answer else {},
            model=str(model) if state.models.current else None,
        )

    def lag(self) -> int:
        """Return how many documents have no point yet, of those that had none when filling began."""
        left: int = self._database.read(lambda session: session.run("search_fill_left"))[0][0]
        return left

    def left(self) -> int:
        """Return how many documents filling has to go over; all of them, where it has not begun."""
        if not search_state(self._database).has_vectors:
            return 0
        return self.lag()

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Fill what has no points yet, as far as that goes in the time. Skipped where another process does it.

        Parameters
        ----------
        check : bool
            Look also for words that their writer could not cut, and for collections that outgrew their lists.
        """
        self.fill(within_s, check=check)

    def fill(
        self,
        within_s: float,
        *,
        check: bool = False,
        whole: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Do what `catch_up` says; with `whole` build lists of any size, for which writers wait.

        Parameters
        ----------
        progress : callable
            Called with the number of documents of each page.
        """
        state = search_state(self._database)
        if not state.has_vectors:
            return
        if not state.is_kept:
            self._database.transact(lambda session: session.run("keep_search_points"))
        deadline = Deadline(at_most_s(within_s), self._clock)
        if not state.is_filled:
            while filled := self._database.transact(self._fill_page):
                progress(filled)
                if deadline.is_over:
                    return
        elif not check:
            return
        while not deadline.is_over and self._database.transact(self._cut_page):
            pass
        if not deadline.is_over:
            self._build_lists(whole=whole)

    def close(self) -> None:
        """Nothing to let go of: the connections are the pool's."""

    def _index(self, state: SearchState) -> PostgresIndex:
        # Whoever only fills may lack what cuts the words of a query.
        from skillroute.core.documents.index.postgres import PostgresIndex  # noqa: PLC0415

        return PostgresIndex(self._database, model_to_search(state.models, self._own_model()))

    def _fill_page(self, session: Session) -> int:
        """Fill the next page, and return its size: 0 when there is nothing left, or another process is at it."""
        [[collection, keys]] = session.run("fill_search_points", limit=_PAGE)
        if collection is None:
            return 0
        waiting = session.run("points_without_words", collection=collection, keys=keys)
        store_words(session.run, collection, waiting, self._cutter(collection))
        return len(keys)

    def _cut_page(self, session: Session) -> int:
        """Cut words that a writer could not, and return of how many documents."""
        waiting: dict[str, list[list[str]]] = {}
        for collection, *row in session.run("next_points_without_words", limit=_PAGE):
            waiting.setdefault(collection, []).append(row)
        return sum(store_words(session.run, name, rows, self._cutter(name)) for name, rows in waiting.items())

    def _cutter(self, collection: str) -> ToTerms | None:
        return next((cut for known, cut in self._terms.items() if known.value == collection), None)

    def _build_lists(self, *, whole: bool) -> None:
        """Build the lists of collections that outgrew theirs. What fails is tried again an hour later."""
        again_after_s = 0.0 if whole else _LISTS_AGAIN_AFTER_S
        if not self._database.transact(lambda session: session.run("try_search_lists", again_after_s=again_after_s)):
            return
        most = 2**62 if whole else _LISTED_BESIDE_WRITERS
        dimensions = self._database.read(lambda session: session.run("search_dimensions"))
        try:
            for collection, (dimension,) in product(collections(), dimensions):
                self._database.transact(
                    lambda session, of=collection.value, dimension=dimension: session.run(  # type: ignore[misc]
                        "build_search_lists", collection=of, dimension=dimension, most=most
                    )
                )
        except SkillrouteError as error:
            logger.warning("search lists not built", extra={"reason": str(error)})
            count(Metric.INDEX_LISTS_FAILED)
