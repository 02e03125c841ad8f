"""The change feed and the indexes that follow it, as the rest of the package sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import FeedPage, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel


class ChangeFeed(Protocol):
    """The change log of PostgreSQL and the rows behind it, as an index reads them (docs/adr/0001)."""

    def poll(self, position: str) -> FeedPage:
        """Return the changes that `position` did not see and this moment does, and this moment as the next position."""
        ...

    def lag(self, position: str) -> int:
        """Return how many changes `poll` would return."""
        ...

    def load(self, collection: Collection, keys: Sequence[str], model: EmbeddingModel) -> list[IndexRecord]:
        """Return the current records of `keys`, with vectors of a model. A key that is missing is to be deleted."""
        ...

    def load_all(
        self, collection: Collection, model: EmbeddingModel, after: str | None = None
    ) -> Iterator[list[IndexRecord]]:
        """Return every record of a collection, or those after a key, in their order in batches of bounded size."""
        ...

    def count(self) -> int:
        """Return how many records there are to load, of all collections."""
        ...


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How an index stands.

    Attributes
    ----------
    kind : str
        ``embedded`` or ``server``.
    ready : bool
        Whether searches are answered from it.
    rebuilding : bool
        Whether a new one is being built.
    lag : int
        Changes that are committed but not applied yet.
    counts : mapping of Collection to int
        Records in each of its collections; empty when it has none yet.
    model : str or None
        The model of the stored vectors that are searched; another process may search those of another.
    stale : bool
        Whether searches are answered from it although it lacks changes; an embedded one catches up before it answers.
    """

    kind: str
    ready: bool
    rebuilding: bool
    lag: int
    counts: Mapping[Collection, int]
    model: str | None
    stale: bool = False


class LendsIndex(Protocol):
    """The source from which a search borrows its index."""

    def current(self, on_stale: Callable[[], object] = lambda: None) -> AbstractContextManager[LentIndex]:
        """Lend an index that holds every change committed before the call, or else call `on_stale` first.

        Raises
        ------
        DatabaseUnavailable
            The change feed cannot be read.
        IndexNotReady
            It is on a server, and being filled.
        IndexUnavailable
            The index failed.
        """
        ...


class IndexReplica(LendsIndex, Protocol):
    """A vector index that follows the change feed."""

    @property
    def is_ready(self) -> bool:
        """Whether there is an index, so that `current` need not build one first. Never waits."""
        ...

    def status(self) -> IndexStatus:
        """Tell how the index stands, without changing it. Raises `DatabaseUnavailable`."""
        ...

    def lag(self) -> int:
        """Return how many changes it has not seen. Raises `DatabaseUnavailable`."""
        ...

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Bring an index on a server up to date, as far as that goes; an embedded one does so before it answers.

        With `check` see first whether it is still there. Returns at once where another process does it already.
        """
        ...

    def close(self) -> None:
        """Let go of the index."""
        ...
