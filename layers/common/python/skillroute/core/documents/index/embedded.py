"""The embedded replica: an index of this process's own, brought up to date before every search.

The first search builds it from PostgreSQL. After that one query by position, usually empty, is all it costs. When
PostgreSQL asks for a new one (a reindex), it is built in the background while the old one goes on answering.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from skillroute.core.documents.index.building import Building
from skillroute.core.documents.index.events import Rebuild, model_to_search, tell_batch, tell_given_up, tell_stale
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import LentIndex, VectorIndex, counts
from skillroute.core.documents.index.projection import STEP, apply_changes, load_everything, removes
from skillroute.core.documents.index.remembering import RememberingIndex
from skillroute.core.documents.index.room import Room
from skillroute.core.documents.model import HEAD, START, Change, FeedPage
from skillroute.core.documents.replica_port import ChangeFeed, IndexStatus
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNoRoom, IndexUnavailable, SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.time.clock import Clock

MakeIndex = Callable[[EmbeddingModel], VectorIndex]
"""Makes an empty index for vectors of a model."""

Build = Callable[[EmbeddingModel], "Built"]
"""Builds a filled index: here, or outside this process with the graph that large collections need."""


@dataclass(frozen=True, slots=True)
class Built:
    """A filled index, and the look at the feed that it was filled after."""

    index: VectorIndex
    seen: FeedPage


@dataclass(slots=True)
class _Generation:
    """One index with the number of searches that use it: it is closed when it is retired and the last has ended."""

    index: GuardedIndex
    epoch: str
    model: EmbeddingModel
    position: str
    users: int = 0
    retired: bool = False
    given_up: bool = False
    lacks_room: bool = False
    # Changes that there was no room for, and whether they remove something that this index has.
    left_out: tuple[Sequence[Change], bool] = ((), False)
    changes_since_optimised: int = 0


def _size(index: VectorIndex) -> int:
    """Return how large the largest collection is: a graph is worth it for that one."""
    return max(counts(index).values())


def _close(index: VectorIndex) -> None:
    """Close an index that is no longer used; ignore its errors."""
    try:
        index.close()
    except IndexUnavailable as error:
        logger.warning("index not closed", extra={"reason": str(error)})


class EmbeddedReplica:
    """`IndexReplica` over an index in this process.

    Parameters
    ----------
    feed : ChangeFeed
    make_index : callable
        Makes an empty index for a model.
    own_model : callable
        Returns the model that this process embeds with, or None while it is unknown. Its vectors are searched if
        all are there, else those of the current model.
    make_optimised : callable or None
        Builds an index with a search graph in a child process, where the process lives long enough to gain by it.
    optimise_above : int
        From this many changes since the last such build on, another is made.
    room : Room or None
        Asked before a replica is built, and before it grows: one that cannot goes on answering without what is new, but
        not with what is gone.
    """

    def __init__(
        self,
        feed: ChangeFeed,
        make_index: MakeIndex,
        own_model: Callable[[], EmbeddingModel | None],
        *,
        make_optimised: Build | None = None,
        optimise_above: int = 20_000,
        room: Room | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._feed = feed
        self._room = room
        self._make_index = make_index
        self._own_model = own_model
        self._make_optimised = make_optimised
        self._optimise_above = optimise_above
        self._clock = clock
        self._lock = threading.Lock()
        self._current: _Generation | None = None
        self._polled_at = float("-inf")
        self._failed: tuple[float, SkillrouteError] | None = None
        self._building = Building(clock)
        self._closed = False

    @property
    def is_ready(self) -> bool:
        return self._current is not None

    @contextmanager
    def current(
        self, on_stale: Callable[[], object] = lambda: None, *, never_stale: bool = False
    ) -> Iterator[LentIndex]:
        """Lend the index; see `LendsIndex`. With `never_stale` one that lacks changes raises `IndexNoRoom`."""
        generation = self._lease(self._clock())
        try:
            if generation.lacks_room:
                if never_stale:
                    raise IndexNoRoom("the index has no room for what was changed")
                tell_stale()
                on_stale()
            yield generation.index
        finally:
            with self._lock:
                generation.users -= 1
                unused = generation.retired and generation.users == 0
            if unused:
                _close(generation.index)

    def status(self) -> IndexStatus:
        with self._lock:
            generation = self._current
            current = self._feed.poll(HEAD).models.current
            return IndexStatus(
                kind="embedded",
                ready=generation is not None,
                rebuilding=self._building.is_under_way,
                lag=self.lag(),
                counts=counts(generation.index) if generation else {},
                model=str(generation.model if generation else current) if current else None,
                stale=generation is not None and generation.lacks_room,
            )

    def lag(self) -> int:
        generation = self._current
        return self._feed.lag(generation.position if generation else START)

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Do nothing: every search does."""

    def build_ahead(self, is_wanted: Callable[[], bool], before_step: Callable[[], None]) -> None:
        """Build the first index in a thread of its own, unless that is under way or has just failed. Never waits.

        Parameters
        ----------
        is_wanted : callable
            Asked in that thread, before anything is built.
        before_step : callable
            Called before every few records.
        """

        def build(model: EmbeddingModel) -> Built:
            return self._build(model, before_step)

        def first() -> None:
            if is_wanted():
                model = model_to_search(self._feed.poll(HEAD).models, self._own_model())
                self._put_in_place(self._built(model, build), model)

        if not self.is_ready and self._lock.acquire(blocking=False):
            try:
                if not self._closed:
                    self._building.begin(first)
            finally:
                self._lock.release()

    def wait_for_rebuild(self) -> None:
        """Return when no new index is being built."""
        self._building.wait()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            generation, self._current = self._current, None
            if generation is not None:
                self._retire(generation)

    def _lease(self, begun: float) -> _Generation:
        with self._lock:
            # A look at the feed that started after this search began shows all that the search must see, so searches
            # that wait here together share one.
            if self._closed:
                raise IndexUnavailable("the index is closed")
            generation = self._current
            if generation is None or self._polled_at < begun:
                # So do they when it failed: each waiting for a server that hangs would take as long again.
                if self._failed is not None and self._failed[0] >= begun:
                    raise self._failed[1]
                generation = self._catch_up()
            generation.users += 1
            return generation

    def _catch_up(self) -> _Generation:
        started = self._clock()
        try:
            return self._look()
        except SkillrouteError as error:
            self._failed = (started, error)
            self._give_up_broken()
            raise

    def _look(self) -> _Generation:
        polled_at = self._clock()
        self._give_up_broken()
        generation = self._current
        page = self._feed.poll(generation.position if generation else HEAD)
        model = model_to_search(page.models, self._own_model())
        # A process that slept until the changes it missed were pruned starts over, and so does an index of a
        # database that was restored to an earlier moment. After a change of model the old vectors go on being searched
        # while others are read.
        if generation is None or not page.is_complete or generation.model not in (model, *page.models.searched):
            generation = self._swap(self._built(model, self._build), model)
        elif self._grows(generation, page) and (page.epoch != generation.epoch or generation.model != model):
            self._rebuild_beside(model)
        self._polled_at = polled_at
        if self._should_optimise(generation):
            self._rebuild_beside(model)
        return generation

    def _grows(self, generation: _Generation, page: FeedPage) -> bool:
        """Apply changes where there is room for them, and return whether there was.

        Raises `IndexNoRoom` where they remove something that is in the index: it must not be found any more, and a full
        disk takes no deletion either, which is written to the same files.
        """
        try:
            if self._room is not None and page.changes:
                self._room.for_more(len(page.changes), generation.model)
        except IndexNoRoom:
            generation.lacks_room = True
            if self._removes(generation, page.changes):
                raise
            return False
        generation.lacks_room, generation.left_out = False, ((), False)
        self._apply(generation, page)
        return True

    def _removes(self, generation: _Generation, changes: Sequence[Change]) -> bool:
        if generation.left_out[0] != changes:  # every search of a full disk asks for the same ones
            named = [(change.collection, change.key) for change in changes]
            generation.left_out = changes, removes(self._feed, generation.index, generation.model, named)
        return generation.left_out[1]

    def _give_up_broken(self) -> None:
        """Build another index when the engine of this one keeps failing; until it is there, searches go on trying."""
        generation = self._current
        if generation is None or generation.index.broken is None:
            return
        if not generation.given_up:
            generation.given_up = True
            tell_given_up(generation.index.broken)
        self._rebuild_beside(generation.model)

    def _should_optimise(self, generation: _Generation) -> bool:
        return (
            self._make_optimised is not None
            and generation.changes_since_optimised >= self._optimise_above
            and _size(generation.index) >= self._optimise_above
        )

    def _built(self, model: EmbeddingModel, build: Build) -> Built:
        if self._room is not None:
            self._room.for_new(self._feed.count(), model)
        rebuild = Rebuild(self._feed, self._clock)
        built = build(model)
        rebuild.completed(built.index)
        return built

    def _build(self, model: EmbeddingModel, before_step: Callable[[], None] = lambda: None) -> Built:
        page = self._feed.poll(HEAD)
        index = self._make_index(model)
        try:
            load_everything(self._feed, index, model, partial(self._before_step, model, before_step))
        except SkillrouteError:
            index.close()
            raise
        return Built(index, page)

    def _before_step(self, model: EmbeddingModel, wait: Callable[[], None]) -> None:
        wait()
        if self._room is not None:
            self._room.for_more(STEP, model)

    def _swap(self, built: Built, model: EmbeddingModel, *, optimised: bool = False) -> _Generation:
        """Put a new index in place; what changed while it was built comes with the next look at the feed."""
        old, page = self._current, built.seen
        new = _Generation(RememberingIndex(built.index, model), page.epoch, model, page.position)
        try:
            # What the build read may be newer than the page, never older: everything after that is applied again.
            self._apply(new, self._feed.poll(page.position))
        except SkillrouteError:
            built.index.close()
            raise
        new.changes_since_optimised = 0 if optimised else _size(built.index)
        self._current = new
        if old is not None:
            self._retire(old)
        return new

    @staticmethod
    def _retire(generation: _Generation) -> None:
        generation.retired = True
        if generation.users == 0:
            _close(generation.index)

    def _apply(self, generation: _Generation, page: FeedPage) -> None:
        if page.changes:
            changes = [(change.collection, change.key) for change in page.changes]
            apply_changes(self._feed, generation.index, generation.model, changes)
            tell_batch(len(page.changes))
        generation.position = page.position
        generation.changes_since_optimised += len(page.changes)

    def _rebuild_beside(self, model: EmbeddingModel) -> None:
        current = self._current
        large = current is not None and not current.given_up and _size(current.index) >= self._optimise_above
        optimise = self._make_optimised if large else None

        def rebuild() -> None:
            self._put_in_place(self._built(model, optimise or self._build), model, optimised=optimise is not None)

        self._building.begin(rebuild)

    def _put_in_place(self, built: Built, model: EmbeddingModel, *, optimised: bool = False) -> None:
        with self._lock:
            if self._closed:
                built.index.close()
            else:
                self._swap(built, model, optimised=optimised)
