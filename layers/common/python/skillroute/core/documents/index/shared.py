"""A Qdrant server that all processes share. Searches only read it; writers and the relay keep it in step.

What is on the server is a generation: collections of one model that were filled once and follow the change feed since.
Searches use the newest that is whole, and say so when the feed goes beyond what it has seen. They never fill: a new
generation is filled beside the one that is searched, page by page, by any writer or relay that has the time; where it
stands is kept in PostgreSQL, so that a process that is killed costs a page (docs/adr/0034).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, Protocol

from skillroute.core.documents.collection import collection_named, collections
from skillroute.core.documents.generations import KNOWN, Generation, Generations, LockedGenerations, Served
from skillroute.core.documents.index.events import (
    NO_MODEL,
    model_to_search,
    tell_batch,
    tell_rebuild,
    tell_rebuilt,
    tell_stale,
)
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import LentIndex, VectorIndex, counts
from skillroute.core.documents.index.projection import apply_changes
from skillroute.core.documents.index.scripts import CUT
from skillroute.core.documents.model import HEAD, START, FeedPage, Models
from skillroute.core.documents.replica_port import ChangeFeed, IndexStatus
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNotReady
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import at_most_s

_PAGE = 500
_COLLECTIONS = [collection.value for collection in collections()]


class ServerIndex(VectorIndex, Protocol):
    """Collections on a server."""

    def exists(self) -> bool:
        """Whether all of them are there."""
        ...

    def drop(self) -> None:
        """Remove all of them."""
        ...


OpenIndex = Callable[[EmbeddingModel, int, bool], ServerIndex]
"""Opens a generation's collections for vectors of a model; makes them where they are missing, if that is asked for."""

_Step = Literal["worked", "done", "busy"]


class SharedReplica:
    """`IndexReplica` over an index server.

    Parameters
    ----------
    feed : ChangeFeed
    generations : Generations
    open_index : callable
    own_model : callable
        Returns the model that this process embeds with, or None while it is unknown. Its vectors are searched if
        they are on the server, else those of the current model, or of the one that was current before.
    """

    def __init__(
        self,
        feed: ChangeFeed,
        generations: Generations,
        open_index: OpenIndex,
        own_model: Callable[[], EmbeddingModel | None],
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self._feed = feed
        self._generations = generations
        self._open_index = open_index
        self._own_model = own_model
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: dict[tuple[int, bool], ServerIndex] = {}

    @property
    def is_ready(self) -> bool:
        return True  # a search never builds one

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        served = self._served()
        if served.number is None or served.model is None:
            raise IndexNotReady("the index server is being filled")
        if not served.is_current:
            tell_stale()
            on_stale()
        yield GuardedIndex(self._open(served.model, served.number), served.model, kind="server")

    def status(self) -> IndexStatus:
        served = self._served()
        index = self._open(served.model, served.number) if served.number and served.model else None
        return IndexStatus(
            kind="server",
            ready=index is not None,
            rebuilding=served.is_filling,
            lag=self._lag(served),
            counts=counts(index) if index else {},
            model=str(served.model or served.models.current) if served.models.current else None,
            stale=not served.is_current,
        )

    def lag(self) -> int:
        return self._lag(self._served())

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Bring the server up to date, as far as that goes within some seconds. Skipped where another does it.

        Parameters
        ----------
        check : bool
            Look first whether the collections are still on the server.
        """
        deadline = Deadline(at_most_s(within_s), self._clock)
        while True:
            step = self._generations.locked(lambda locked, check=check: self._step(locked, check))  # type: ignore[misc]
            check = False
            # Who was turned away while this one was at work relies on it: so look again after letting go.
            if step == "busy" or (step == "done" and self._served().is_current) or deadline.is_over:
                return

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, {}
        for index in opened.values():
            index.close()

    def _lag(self, served: Served) -> int:
        return self._feed.lag(served.seen or START)

    def _served(self) -> Served:
        own = self._own_model()
        served = self._generations.served(own)
        model_to_search(served.models, own)  # tells when it is another one
        return served

    def _open(self, model: EmbeddingModel, number: int, *, to_fill: bool = False) -> ServerIndex:
        with self._lock:
            index = self._opened.get((number, to_fill))
            if index is None:
                index = self._opened[number, to_fill] = self._open_index(model, number, to_fill)
                # A search may still be on the generation before.
                for old in [key for key in self._opened if key[0] < number - 1]:
                    self._opened.pop(old).close()
            return index

    def _step(self, locked: LockedGenerations | None, check: bool) -> _Step:
        """Do a page of what there is to do."""
        if locked is None:
            return "busy"
        page, generations = self._feed.poll(HEAD), locked.all()
        model = self._model_of(page, generations)
        mine = [generation for generation in generations if generation.model == model]
        ready = next((generation for generation in reversed(mine) if generation.is_ready), None)
        newest = mine[-1] if mine else None
        if newest is None or not _is_of_today(newest, page) or (check and self._is_gone(newest)):
            locked.add(model, page.epoch, page.position)
            tell_rebuild(self._feed)
            return "worked"
        if ready is not None and ready.can_follow and self._follow(locked, ready, page):
            return "worked"
        if not newest.is_ready:
            self._fill(locked, newest, page)
            return "worked"
        return self._tidy(locked, generations, newest, page.models)

    def _is_gone(self, generation: Generation) -> bool:
        return generation.is_ready and not self._open(generation.model, generation.number).exists()

    def _model_of(self, page: FeedPage, generations: list[Generation]) -> EmbeddingModel:
        """Return the model to have collections of; without any, those that are there will do."""
        model = model_to_search(page.models, self._own_model())
        return generations[-1].model if model == NO_MODEL and generations else model

    def _follow(self, locked: LockedGenerations, generation: Generation, page: FeedPage) -> bool:
        """Carry a page of changes over; return whether there were any."""
        assert generation.seen is not None  # noqa: S101 (it is filled)
        changes = locked.unseen(generation.seen, generation.after, _PAGE)
        if not changes and generation.target is None and generation.is_ready:
            return False
        index = self._open(generation.model, generation.number)
        known = [(collection_named(name), key) for name, key in changes if name in KNOWN]
        apply_changes(self._feed, index, generation.model, known)
        # The target was seen before the changes were read, so what came between is carried over again.
        target = generation.target or page.position
        if len(changes) == _PAGE:
            locked.save(replace(generation, target=target, after=changes[-1]))
        else:
            elapsed_ms = locked.save(replace(generation, seen=target, target=None, after=None, is_ready=True))
            if not generation.is_ready:
                tell_rebuilt(index, elapsed_ms)
        tell_batch(len(changes))
        return True

    def _fill(self, locked: LockedGenerations, generation: Generation, page: FeedPage) -> None:
        """Write a page of records to a new generation, by key; in the end what changed meanwhile."""
        if generation.seen is not None:
            self._follow(locked, generation, page)
            return
        name, after = generation.after or (_COLLECTIONS[0], None)
        records = next(iter(self._feed.load_all(collection_named(name), generation.model, after)), [])
        index = self._open(generation.model, generation.number, to_fill=True)
        if after is None:
            index.count(collection_named(name))  # makes the collection, also where nothing is to be written
        if records:
            index.upsert(collection_named(name), records)
            locked.save(replace(generation, after=(name, records[-1].key)))
            return
        following = _COLLECTIONS[_COLLECTIONS.index(name) + 1 :]
        if following:
            locked.save(replace(generation, after=(following[0], None)))
        else:
            locked.save(replace(generation, seen=generation.target, target=None, after=None))

    def _tidy(
        self, locked: LockedGenerations, generations: list[Generation], newest: Generation, models: Models
    ) -> _Step:
        """Drop a generation that is no longer needed. One of another model that is searched is another process's."""
        for old in generations:
            is_ours = old.model == newest.model or old.model not in models.searched
            if is_ours and old.number < newest.number and (newest.is_superseding or not old.is_ready):
                self._open(old.model, old.number).drop()
                locked.forget(old.number)
                return "worked"
        return "done"


def _is_of_today(generation: Generation, page: FeedPage) -> bool:
    """Return whether following the feed is enough. A version of the program that cuts in an older way leaves it be."""
    return generation.epoch == page.epoch and generation.can_follow and generation.cut >= CUT
