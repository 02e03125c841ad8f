"""The indexes that an embedded replica searches, one after the other: each is a generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.core.documents.index.events import tell_batch
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import VectorIndex, counts
from skillroute.core.documents.index.projection import apply_changes, removes
from skillroute.core.documents.index.room import Room
from skillroute.core.documents.model import Change, FeedPage
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNoRoom, IndexUnavailable
from skillroute.core.observability import logger


@dataclass(frozen=True, slots=True)
class Built:
    """A filled index, and the look at the feed that it was filled after."""

    index: VectorIndex
    seen: FeedPage


@dataclass(slots=True)
class Generation:
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

    def grows(self, feed: ChangeFeed, room: Room | None, page: FeedPage) -> bool:
        """Apply changes where there is room for them, and return whether there was.

        Raises `IndexNoRoom` where they remove something that is in the index: it must not be found any more, and a full
        disk takes no deletion either, which is written to the same files.
        """
        try:
            if room is not None and page.changes:
                room.for_more(len(page.changes), self.model)
        except IndexNoRoom:
            self.lacks_room = True
            if self._removes(feed, page.changes):
                raise
            return False
        self.lacks_room, self.left_out = False, ((), False)
        self.apply(feed, page)
        return True

    def apply(self, feed: ChangeFeed, page: FeedPage) -> None:
        """Apply the changes of a page, and go on from its position."""
        if page.changes:
            changes = [(change.collection, change.key) for change in page.changes]
            apply_changes(feed, self.index, self.model, changes)
            tell_batch(len(page.changes))
        self.position = page.position
        self.changes_since_optimised += len(page.changes)

    def retire(self) -> None:
        """Close the index, at once or when the last search has ended."""
        self.retired = True
        if self.users == 0:
            close(self.index)

    def _removes(self, feed: ChangeFeed, changes: Sequence[Change]) -> bool:
        if self.left_out[0] != changes:  # every search of a full disk asks for the same ones
            named = [(change.collection, change.key) for change in changes]
            self.left_out = changes, removes(feed, self.index, self.model, named)
        return self.left_out[1]


def size_of(index: VectorIndex) -> int:
    """Return the size of the largest collection: a graph is worth it for that one."""
    return max(counts(index).values())


def close(index: VectorIndex) -> None:
    """Close an index that no search uses any more; an error is logged and changes nothing."""
    try:
        index.close()
    except IndexUnavailable as error:
        logger.warning("index not closed", extra={"reason": str(error)})
