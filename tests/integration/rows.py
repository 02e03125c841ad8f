"""Rows with chosen texts and vectors, and SQL by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pg8000.native
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.repository import ItemRow
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes, to_bytes
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.connection import Connection
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import NewSkill, skill_key

MODEL = EmbeddingModel("test", 2)
OTHER_MODEL = EmbeddingModel("other", 2)
EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def item_row(name: str, vector: Vector | None = None, *, text: str | None = None, **content: Any) -> ItemRow:
    said = ItemContent(ItemKey(content.pop("server", ""), content.pop("type", "tool"), name), **content)
    words = text or f"{name} {said.description}"
    return ItemRow(said, content_hash(said), IndexedText((words,), words, text_hash(words)), vector)


def new_skill(skill_id: str, **fields: Any) -> NewSkill:
    return NewSkill(id=skill_id, name=fields.pop("name", skill_id), description="What a test wants.", **fields)


def skill_text(skill_id: str) -> IndexedText:
    return IndexedText((skill_id,), skill_id, text_hash(skill_id))


class Insert:
    """A unit of work that stores the number of its run, and returns it."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, connection: Connection) -> int:
        self.runs += 1
        connection.script(f"INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '{self.runs}')")
        return self.runs


class Sql:
    """A connection of the test's own, beside the pool under test: it can hold a transaction open."""

    def __init__(self, url: str) -> None:
        address = Address.parse(url)
        self._native = pg8000.native.Connection(
            address.user,
            address.host,
            address.database,
            address.port,
            address.password,
            ssl_context=False,  # else 26 ms to read the certificates, for each connection
        )

    def __call__(self, statement: str, **params: Any) -> list[list[Any]]:
        rows: list[list[Any]] | None = self._native.run(statement, **params)
        return rows or []

    def is_free(self) -> bool:
        """Tell whether it is open and in no transaction."""
        try:
            self("SELECT 1")
        except (pg8000.native.Error, OSError):
            return False
        return bool(self._native._transaction_status == b"I")  # idle

    def close(self) -> None:
        self._native.close()


@contextmanager
def connected(url: str) -> Iterator[Sql]:
    sql = Sql(url)
    try:
        yield sql
    finally:
        sql.close()


INSERT_TOOL = "INSERT INTO mcp.tools (name, type, content_hash) VALUES ('{name}', 'tool', 'c')"
INSERT_SKILL = (
    "INSERT INTO mcp.skill_categories (id, name, description) VALUES ('{name}', 'A name', 'A long description')"
)


def put_document(sql: Sql, collection: Collection, key: str, text: str = "", vector: Vector | None = None) -> None:
    """Write the text of a row that is there, and its vector of `MODEL`, as the repositories do."""
    put_documents(sql, collection, [key], text, vector)


def put_documents(
    sql: Sql,
    collection: Collection,
    keys: Iterable[object],
    text: str = "",
    vector: Vector | None = None,
    *,
    keep_derived: bool = False,
) -> list[list[Any]]:
    """The same of several; what the function returned of each: its key, whether it changed, whether it is embedded."""
    row = {
        "texts": [text],
        "lexical_text": text,
        "text_hash": text_hash(text),
        "embedding": None if vector is None else to_bytes(vector).hex(),
    }
    return sql(
        "SELECT * FROM mcp.put_documents(:collection, :rows, :model, :dimension, :keep_derived)",
        collection=collection.value,
        rows=json.dumps([{"key": str(key), **row} for key in keys]),
        model=None if vector is None else MODEL.name,
        dimension=None if vector is None else MODEL.dimension,
        keep_derived=keep_derived,
    )


def put_vectors(sql: Sql, model: EmbeddingModel, vector: Vector) -> None:
    """Store a vector of a model with every document, whether the model is in use or not."""
    sql(
        "INSERT INTO mcp.document_vectors AS v (collection, key, model, dimension, text_hash, embedding) "
        "SELECT collection, key, :model, :dimension, text_hash, decode(:vector, 'hex') FROM mcp.documents "
        "ON CONFLICT (collection, key, model, dimension) DO UPDATE SET embedding = excluded.embedding",
        model=model.name,
        dimension=model.dimension,
        vector=to_bytes(vector).hex(),
    )


def claim(sql: Sql, model: EmbeddingModel = MODEL) -> None:
    """Make a model the one that vectors are kept of."""
    sql(
        "UPDATE mcp.index_state SET embedding_model = :name, embedding_dimension = :dimension",
        name=model.name,
        dimension=model.dimension,
    )


def vectors_of(sql: Sql, collection: Collection, key: object, column: str = "embedding") -> dict[str, Vector | None]:
    """Return the vectors of a document by the names of their models; None waits."""
    rows = sql(
        f"SELECT model, {column} FROM mcp.document_vectors WHERE collection = :collection AND key = :key",
        collection=collection.value,
        key=str(key),
    )
    return {model: None if vector is None else from_bytes(vector) for model, vector in rows}


def insert_tool(sql: Sql, name: str) -> int:
    """Insert a tool and its document; return its id."""
    tool_id = int(sql(INSERT_TOOL.format(name=name) + " RETURNING id")[0][0])
    put_document(sql, TOOL_DOCUMENTS, str(tool_id), "l")
    return tool_id


def insert_skill(sql: Sql, name: str, org: str | None = None) -> None:
    """Insert a skill and its document."""
    sql(
        "INSERT INTO mcp.skill_categories (id, org_id, name, description) "
        "VALUES (:id, :org, 'A name', 'A long description')",
        id=name,
        org=org,
    )
    put_document(sql, SKILL_DOCUMENTS, skill_key(name, org), "l")


def insert_assignment(sql: Sql, tool_id: int, skill_id: str, confidence: float = 0.5, primary: bool = False) -> None:
    sql(
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary) VALUES (:t, :s, :c, :p)",
        t=tool_id,
        s=skill_id,
        c=confidence,
        p=primary,
    )


def waits_for_a_lock(sql: Sql, application_name: str = "skillroute") -> bool:
    """Tell whether a connection of this name waits for another's lock."""
    rows = sql(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = :name AND wait_event_type = 'Lock'",
        name=application_name,
    )
    return bool(rows[0][0])
