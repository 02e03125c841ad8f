"""The change feed of PostgreSQL (docs/adr/0001), and the position of a shared index in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from skillroute.catalogue.names import name_key
from skillroute.core.documents.model import Change, Collection, FeedPage, IndexRecord
from skillroute.core.documents.replica_port import PositionCursor
from skillroute.core.embedding.model import EmbeddingModel, from_bytes
from skillroute.core.errors import DatabaseUnavailable, OutcomeUnknown
from skillroute.core.postgres.pool import Pool
from skillroute.mail.text import SearchText, impacts

# 500 records with vectors and descriptions are about 2 MB on the wire.
_PAGE = 500


class PostgresFeed:
    """`ports.ChangeFeed` over the pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def poll(self, position: int) -> FeedPage:
        rows = self._pool.read(lambda c: c.run("poll_changes", position=str(position)))
        epoch, model, dimension, next_position, is_complete = rows[0][:5]
        return FeedPage(
            epoch=epoch,
            model=None if model is None else EmbeddingModel(model, dimension),
            position=int(next_position),
            # A collection that this version does not know is one that it does not search: migrations go first.
            changes=[Change(Collection(row[5]), row[6], int(row[7])) for row in rows if row[5] in _KNOWN],
            is_complete=is_complete,
        )

    def load(self, collection: Collection, keys: Sequence[str]) -> list[IndexRecord]:
        statement, to_record = _LOADERS[collection]
        return [
            to_record(row)
            for start in range(0, len(keys), _PAGE)
            for row in self._pool.read(
                lambda c, page=list(keys[start : start + _PAGE]): c.run(statement, keys=page)  # type: ignore[misc]
            )
        ]

    def load_all(self, collection: Collection) -> Iterator[list[IndexRecord]]:
        statement, to_record = _LOADERS[collection]
        after = "" if collection is Collection.SKILLS else "0"
        while True:
            rows = self._pool.read(
                lambda c, after=after: c.run(f"{statement}_after", after=after, limit=_PAGE)  # type: ignore[misc]
            )
            if not rows:
                return
            yield [to_record(row) for row in rows]
            after = rows[-1][0]

    def count(self) -> int:
        number: int = self._pool.read(lambda c: c.run("count_records"))[0][0]
        return number


def _tool_record(row: list[Any]) -> IndexRecord:
    (key, embedding, text, type_, name, description, server, org_id, content_hash, skill_keys, primary) = row
    return IndexRecord(
        key=key,
        vector=None if embedding is None else from_bytes(embedding),
        text=text,
        payload={
            "db_id": int(key),
            "type": type_,
            "name": name,
            "name_key": name_key(name),
            "description": description,
            "server": server,
            "org_id": org_id or "",
            "content_hash": content_hash,
            "skill_keys": skill_keys or [],
            "primary_skill_key": primary,
        },
    )


def _skill_record(row: list[Any]) -> IndexRecord:
    key, embedding, text, name, description, org_id, hidden_from = row
    return IndexRecord(
        key=key,
        vector=None if embedding is None else from_bytes(embedding),
        text=text,
        payload={
            "name": name,
            "description": description,
            "org_id": org_id or "",
            "hidden_from": hidden_from,
        },
    )


def _entity_record(row: list[Any]) -> IndexRecord:
    key, embedding, kind, path, name, tag_keys, org_id, is_enabled = row
    return IndexRecord(
        key=key,
        vector=None if embedding is None else from_bytes(embedding),
        text="",  # keywords are looked for in PostgreSQL
        payload={
            "entity_id": key,
            "kind": kind,
            "path": path,
            "name": name,
            "tags": tag_keys,
            "org_id": org_id or "",
            "is_enabled": "true" if is_enabled else "false",  # filters compare texts
        },
    )


def _mail_record(row: list[Any]) -> IndexRecord:
    (key, embedding, title, body, kind, org_id, project_ids, sender, recipients, thread_id, importance, ack_required,
     created_ts) = row  # fmt: skip
    said: dict[str, Any] = {
        "kind": kind,
        "org_id": org_id or "",
        "project_ids": [str(project_id) for project_id in project_ids],
        "created_ts": created_ts,
    }
    if kind == "message":
        said |= {
            "sender": sender,
            "recipients": recipients,
            "parties": sorted({sender, *recipients}),
            "importance": importance,
            "ack_required": "true" if ack_required else "false",  # filters compare texts
        }
        said |= {} if thread_id is None else {"thread_id": thread_id}
    return IndexRecord(
        key=key,
        vector=None if embedding is None else from_bytes(embedding),
        text="",
        payload=said,
        impacts=impacts(SearchText(title, body)),
    )


_LOADERS: dict[Collection, tuple[str, Callable[[list[Any]], IndexRecord]]] = {
    Collection.TOOLS: ("load_tools", _tool_record),
    Collection.SKILLS: ("load_skills", _skill_record),
    Collection.REGISTRY: ("load_entities", _entity_record),
    Collection.MAIL: ("load_mail", _mail_record),
}
_KNOWN = frozenset(collection.value for collection in Collection)


class _Cursor:
    def __init__(self, epoch: str | None, position: int) -> None:
        self.epoch = epoch
        self.position = position

    def advance(self, epoch: str, position: int) -> None:
        self.epoch = epoch
        self.position = position


@contextmanager
def _lost_commit_is_harmless() -> Iterator[None]:
    """Treat a lost COMMIT as a lost connection: from an older position the same changes are applied once more."""
    try:
        yield
    except OutcomeUnknown as error:
        raise DatabaseUnavailable(str(error)) from error


class SharedPosition:
    """`ports.PositionStore` for an index server: one row, locked while somebody brings the server up to date."""

    def __init__(self, pool: Pool, index_name: str) -> None:
        self._pool = pool
        self._index_name = index_name

    def exclusive(self) -> AbstractContextManager[PositionCursor]:
        return self._held()

    @contextmanager
    def _held(self) -> Iterator[PositionCursor]:
        with self._pool.borrowed() as connection:
            connection.run("ensure_position", index_name=self._index_name)
            with _lost_commit_is_harmless(), connection.transaction():
                epoch, position = connection.run("hold_position", index_name=self._index_name)[0]
                cursor = _Cursor(epoch, int(position))
                yield cursor
                connection.run(
                    "save_position",
                    index_name=self._index_name,
                    epoch=cursor.epoch,
                    position=str(cursor.position),
                )
