"""Writing items into the catalogue: item by item, unchanged ones left alone, only what changed embedded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillroute.domain.caller import Caller
from skillroute.domain.hashing import content_hash, text_hash
from skillroute.domain.items import ItemContent, ItemKey
from skillroute.domain.tool_text import (
    ToolSaid,
    argument_descriptions,
    argument_names,
    embedding_views,
    lexical_text,
)
from skillroute.errors import EmbeddingUnavailable, InvalidInput, StatementRejected
from skillroute.observability import Metric, count, logger
from skillroute.ports import (
    Database,
    Embedder,
    EmbeddingTask,
    IndexedText,
    ItemRow,
    ItemState,
    Session,
    Written,
)
from skillroute.services.embedding import check_model, claim_model, embed_views
from skillroute.services.item_input import read_item

MAX_ITEMS = 500
"""Items of one call."""

Status = Literal["created", "updated", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one item of a call.

    Attributes
    ----------
    index : int
        Its place in the call, from 0.
    status : str
    id : int or None
        None when it failed.
    key : ItemKey or None
        None when it could not be read.
    field, reason : str or None
        What was wrong with it, when it failed.
    """

    index: int
    status: Status
    id: int | None = None
    key: ItemKey | None = None
    field: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What became of all items, in the order of the call.

    `embedding_unavailable` tells that some were stored without a vector: they are found by their words until the
    vector can be made, which needs nobody's help.
    """

    outcomes: Sequence[ItemOutcome]
    embedding_unavailable: bool

    def count(self, status: Status) -> int:
        """Return how many items ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class _Incoming:
    index: int
    content: ItemContent
    content_hash: str
    text: IndexedText


class SyncTools:
    """`PUT /api/v1/tools`.

    Parameters
    ----------
    database, embedder
    after_commit : callable
        Called once something was written; sends the work that this made, and brings an index server up to date.
    timeout_s : float
        The most that embedding the items of one call may take.
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

    def __call__(self, items: Sequence[object], caller: Caller) -> SyncReport:
        """Create or change items of the caller's organisation.

        Raises
        ------
        InvalidInput
            There are more than `MAX_ITEMS`.
        DatabaseUnavailable, EmbeddingModelMismatch
            Nothing was written.
        """
        if len(items) > MAX_ITEMS:
            raise InvalidInput("items", f"{len(items)} items; at most {MAX_ITEMS} in one call")
        incoming, outcomes = _read_all(items)
        states = self._states(incoming, caller)
        changed = [item for item in incoming if not _is_unchanged(item, states.get(item.content.key))]
        rows, embedding_unavailable = self._embedded(changed, states)
        written, rejected = self._write(rows, caller)
        if any(key not in written and key not in states for key in (row.content.key for row in rows)):
            # Somebody else wrote the same item at the same moment; its id is theirs.
            states |= self._states(incoming, caller)
        for item in incoming:
            outcomes[item.index] = _outcome(item, states.get(item.content.key), written, rejected)
        report = SyncReport([outcomes[index] for index in sorted(outcomes)], embedding_unavailable)
        count(Metric.ITEMS_WRITTEN, report.count("created") + report.count("updated"))
        count(Metric.ITEMS_FAILED, report.count("failed"))
        if written:
            if not embedding_unavailable:
                self._embed_overtaken(rows, written)
            self._after_commit()
        return report

    def _states(self, incoming: Sequence[_Incoming], caller: Caller) -> dict[ItemKey, ItemState]:
        def read(session: Session) -> dict[ItemKey, ItemState]:
            self._check_model(session)
            return session.items.states(caller.org_id, [item.content.key for item in incoming])

        return self._database.read(read)

    def _check_model(self, session: Session) -> None:
        try:
            check_model(session, self._embedder.model)
        except EmbeddingUnavailable:
            return  # which model it would be cannot be told; nothing will be embedded either

    def _embedded(self, changed: Sequence[_Incoming], states: dict[ItemKey, ItemState]) -> tuple[list[ItemRow], bool]:
        """Make rows, with vectors for those whose text is new."""
        new_text = [item for item in changed if not _keeps_its_vector(item, states.get(item.content.key))]
        try:
            vectors = (
                embed_views(self._embedder, [item.text.embedding_texts for item in new_text], timeout_s=self._timeout_s)
                if new_text
                else []
            )
            unavailable = False
        except EmbeddingUnavailable as error:
            logger.warning("items stored without embedding", extra={"items": len(new_text), "reason": str(error)})
            count(Metric.EMBEDDING_FAILED)
            vectors, unavailable = [], True
        by_index = {item.index: vector for item, vector in zip(new_text, vectors, strict=False)}
        rows = [ItemRow(item.content, item.content_hash, item.text, by_index.get(item.index)) for item in changed]
        return rows, unavailable

    def _write(self, rows: list[ItemRow], caller: Caller) -> tuple[dict[ItemKey, Written], dict[ItemKey, str]]:
        """Write rows in one transaction; when PostgreSQL refuses one of them, each in its own."""
        if not rows:
            return {}, {}
        try:
            return self._database.transact(lambda session: self._upsert(session, rows, caller)), {}
        except StatementRejected as error:
            if not error.is_about_data:
                raise
            if len(rows) == 1:
                logger.warning("item rejected by the database", extra={"reason": str(error)})
                return {}, {rows[0].content.key: str(error)}
        written: dict[ItemKey, Written] = {}
        rejected: dict[ItemKey, str] = {}
        for row in rows:
            row_written, row_rejected = self._write([row], caller)
            written |= row_written
            rejected |= row_rejected
        return written, rejected

    def _embed_overtaken(self, rows: list[ItemRow], written: dict[ItemKey, Written]) -> None:
        """Embed what was to keep a vector that somebody else's newer text had thrown away in the meantime."""
        tasks = [
            EmbeddingTask(str(written[row.content.key].id), row.text.embedding_texts, row.text.hash)
            for row in rows
            if row.content.key in written and not written[row.content.key].is_embedded
        ]
        if not tasks:
            return
        try:
            vectors = embed_views(self._embedder, [task.texts for task in tasks], timeout_s=self._timeout_s)
        except EmbeddingUnavailable as error:
            logger.warning("items stored without embedding", extra={"items": len(tasks), "reason": str(error)})
            return
        model = self._embedder.model

        def store(session: Session) -> None:
            claim_model(session, model)
            session.items.set_embeddings(model, list(zip(tasks, vectors, strict=True)))

        self._database.transact(store)

    def _upsert(self, session: Session, rows: list[ItemRow], caller: Caller) -> dict[ItemKey, Written]:
        model = None
        if any(row.embedding is not None for row in rows):
            model = self._embedder.model
            claim_model(session, model)
        return session.items.upsert(caller.org_id, model, rows)


def indexed_text(content: ItemContent) -> IndexedText:
    """Return what an item says to the index (docs/adr/0003)."""
    schema = content.input_schema
    said = ToolSaid(
        name=content.key.name,
        description=content.description,
        argument_names=argument_names(schema),
        argument_descriptions=argument_descriptions(schema),
        server=content.key.server or None,
    )
    views, words = embedding_views(said), lexical_text(said)
    return IndexedText(views, words, text_hash(*views, words))


def _read_all(items: Sequence[object]) -> tuple[list[_Incoming], dict[int, ItemOutcome]]:
    """Read what can be read; the rest has failed already."""
    incoming: list[_Incoming] = []
    failed: dict[int, ItemOutcome] = {}
    first_place: dict[ItemKey, int] = {}
    for index, raw in enumerate(items):
        try:
            content = read_item(raw)
        except InvalidInput as error:
            failed[index] = ItemOutcome(index, "failed", field=error.field, reason=error.message)
            continue
        if content.key in first_place:
            reason = f"the same server, type and name as item {first_place[content.key]} of this call"
            failed[index] = ItemOutcome(index, "failed", key=content.key, field="name", reason=reason)
            continue
        first_place[content.key] = index
        incoming.append(_Incoming(index, content, content_hash(content), indexed_text(content)))
    return incoming, failed


def _keeps_its_vector(item: _Incoming, state: ItemState | None) -> bool:
    return state is not None and state.text_hash == item.text.hash and state.is_embedded


def _is_unchanged(item: _Incoming, state: ItemState | None) -> bool:
    return state is not None and state.content_hash == item.content_hash and _keeps_its_vector(item, state)


def _outcome(
    item: _Incoming, state: ItemState | None, written: dict[ItemKey, Written], rejected: dict[ItemKey, str]
) -> ItemOutcome:
    key = item.content.key
    if key in rejected:
        return ItemOutcome(item.index, "failed", key=key, field="item", reason=rejected[key])
    if key in written:
        # An item that only got the vector it lacked has not changed for its owner.
        same = state is not None and state.content_hash == item.content_hash
        status: Status = "created" if written[key].created else "unchanged" if same else "updated"
        return ItemOutcome(item.index, status, id=written[key].id, key=key)
    return ItemOutcome(item.index, "unchanged", id=state.id if state else None, key=key)
