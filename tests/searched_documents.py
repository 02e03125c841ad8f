"""An index inside PostgreSQL that records are written to as documents are: through its tables and their triggers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.postgres import PostgresIndex
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.documents.model import IndexRecord
from skillroute.core.documents.search_words import store_words
from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.input.encodable import encodable
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool

_PUT = """
INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload)
SELECT '{collection}', r.key, true, '{{}}', r.text, r.text_hash, r.payload
FROM json_to_recordset('{rows}') AS r (key text, text text, text_hash text, payload jsonb)
ON CONFLICT (collection, key) DO UPDATE SET
    lexical_text = excluded.lexical_text, text_hash = excluded.text_hash, payload = excluded.payload;
DELETE FROM mcp.document_vectors v USING json_to_recordset('{rows}') AS r (key text, vector text)
WHERE v.collection = '{collection}' AND v.key = r.key AND r.vector IS NULL;
INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash, embedding)
SELECT '{collection}', r.key, '{model.name}', {model.dimension}, r.text_hash, decode(r.vector, 'hex')
FROM json_to_recordset('{rows}') AS r (key text, text_hash text, vector text) WHERE r.vector IS NOT NULL
ON CONFLICT (collection, key, model, dimension) DO UPDATE SET embedding = excluded.embedding
"""


def search_in(pool: Pool) -> None:
    """Let the points of a database follow its documents, and fill those that are missing."""
    PostgresReplica(pool, lambda: None, {}).catch_up(60.0)


class DocumentsIndex(PostgresIndex):
    """A `VectorIndex` whose records are documents, written past the slices."""

    def __init__(self, pool: Pool, model: EmbeddingModel) -> None:
        super().__init__(pool, model)
        self._pool = pool

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        by_key = {record.key: record for record in records}
        rows = json.dumps([_row(record) for record in by_key.values()])

        def write(connection: Connection) -> None:
            connection.script(_PUT.format(collection=collection.value, rows=rows.replace("'", "''"), model=self.model))
            waiting = connection.run("points_without_words", collection=collection.value, keys=list(by_key))
            for row in waiting:
                impacts = by_key[row[0]].impacts
                store_words(connection.run, collection.value, [row], None if impacts is None else _giving(impacts))

        self._write(write if by_key else lambda _: None)

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        quoted = ", ".join(f"'{key}'" for key in _storable(keys))
        statement = f"DELETE FROM mcp.documents WHERE collection = '{collection.value}' AND key IN ({quoted})"
        self._write(lambda connection: connection.script(statement) if quoted else None)

    def _write(self, work: object) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")
        self._pool.transact(work)  # type: ignore[arg-type]
        self.forget()  # it is written to, other than what is lent to a search


def _row(record: IndexRecord) -> dict[str, object]:
    text = encodable(record.text).replace("\0", " ")  # which no slice lets through
    said = json.dumps([text, sorted((record.impacts or {}).items())])
    return {
        "key": record.key,
        "text": text,
        "text_hash": hashlib.sha256(said.encode()).hexdigest(),
        "payload": dict(record.payload),
        "vector": None if record.vector is None else to_bytes(record.vector).hex(),
    }


def _giving(impacts: Mapping[str, float]) -> object:
    return lambda _text: impacts


def _storable(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if "\0" not in key and key.isprintable()]
