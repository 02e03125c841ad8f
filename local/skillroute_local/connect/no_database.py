"""The parts of a tool search that otherwise read PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from skillroute.catalogue.model import ItemContent, ItemSchemas
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import LentIndex, counts
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.replica_port import IndexStatus
from skillroute.core.search_run import SearchRun
from skillroute.search.answer.schemas import CacheKey, SchemaLoader, Schemas
from skillroute.search.candidates.unembedded import MissingVectors


class HeldIndex:
    """`IndexReplica` over an index that is written to directly: it never lags."""

    def __init__(self, index: GuardedIndex) -> None:
        self._index = index
        self.is_ready = True

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        yield self._index

    def status(self) -> IndexStatus:
        return IndexStatus("embedded", True, False, 0, counts(self._index), str(self._index.model))

    def lag(self) -> int:
        return 0

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Do nothing."""

    def close(self) -> None:
        self._index.close()


class SchemasAtHand(SchemaLoader):
    """Takes schemas from the items themselves."""

    def __init__(self, content: Callable[[str], ItemContent | None]) -> None:
        """Need no database."""
        self._content = content

    def load(self, wanted: Sequence[CacheKey], *, room: int) -> Schemas:
        found = ((id_, self._content(str(id_))) for id_, _ in wanted)
        schemas = {
            id_: ItemSchemas(content.input_schema, content.output_schema, content.annotations)
            for id_, content in found
            if content is not None
        }
        return Schemas(schemas)


class NothingMissing(MissingVectors):
    """Looks for nothing: what has no vector here will not get one later."""

    def __init__(self) -> None:
        """Need no database."""

    def look(self, run: SearchRun, index: LentIndex, query: str, collection: Collection, *wheres: IndexFilter) -> None:
        """Do nothing."""
