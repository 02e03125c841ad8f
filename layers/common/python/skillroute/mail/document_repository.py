"""The rows of mcp.mail_documents as they are written, embedded and derived anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.catalogue.repository import embeddings_as_json, to_task
from skillroute.core.documents.embedded_rows import EmbeddingTask
from skillroute.core.embedding.model import EmbeddingModel, Vector, to_bytes
from skillroute.core.hashing import text_hash
from skillroute.core.postgres.database import Session
from skillroute.mail.documents import MailDocument
from skillroute.mail.text import SearchText, search_vector


@dataclass(frozen=True, slots=True)
class MailSaid:
    """What was written of a document, and what of it is searched.

    Attributes
    ----------
    title, body : str
        As `SearchText.of` takes them, secrets included.
    searched : SearchText
        As it is stored, under the hash that is stored with it.
    """

    id: int
    title: str
    body: str
    searched: SearchText
    text_hash: str


class PostgresMailDocuments:
    """What of `ports.MailRepository` is about what is searched."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def put_documents(
        self, org_id: str | None, model: EmbeddingModel | None, documents: Sequence[tuple[MailDocument, Vector | None]]
    ) -> None:
        self._run(
            "put_mail_documents",
            org_id=org_id,
            model=model.name if model else None,
            dimension=model.dimension if model else None,
            rows=json.dumps([_to_row(document, vector) for document, vector in documents], ensure_ascii=False),
        )

    def tasks(self, ids: Sequence[int]) -> list[EmbeddingTask]:
        return [to_task(row) for row in self._run("mail_tasks", ids=list(ids))]

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        count: int = self._run("count_mail_to_reembed", model=model.name, dimension=model.dimension)[0][0]
        return count

    def to_embed(self, *, limit: int) -> list[EmbeddingTask]:
        return [to_task(row) for row in self._run("mail_to_embed", limit=limit)]

    def to_reembed(self, model: EmbeddingModel, *, after: str, limit: int) -> list[EmbeddingTask]:
        rows = self._run(
            "mail_to_reembed", model=model.name, dimension=model.dimension, after=after or "0", limit=limit
        )
        return [to_task(row) for row in rows]

    def set_embeddings(self, model: EmbeddingModel, vectors: Sequence[tuple[EmbeddingTask, Vector]]) -> None:
        rows = embeddings_as_json(vectors)
        self._run("set_mail_embeddings", model=model.name, dimension=model.dimension, rows=rows)

    def count(self) -> int:
        count: int = self._run("count_mail_documents")[0][0]
        return count

    def said(self, *, after: int, limit: int, every: int = 1) -> list[MailSaid]:
        return [
            MailSaid(id_, title, body, SearchText(searched_title, searched_body), hash_)
            for id_, title, body, searched_title, searched_body, hash_ in self._run(
                "mail_said", after=after, limit=limit, every=every
            )
        ]

    def with_other_words(self, texts: Sequence[tuple[int, SearchText]]) -> set[int]:
        rows = [{"id": id_, **_searched(text)} for id_, text in texts]
        return {row[0] for row in self._run("mail_with_other_words", rows=json.dumps(rows))}

    def set_texts(self, texts: Sequence[tuple[int, SearchText, str]]) -> None:
        rows = [{"id": id_, "old_hash": old_hash, **_searched(text)} for id_, text, old_hash in texts]
        self._run("set_mail_texts", rows=json.dumps(rows))


def _searched(text: SearchText) -> dict[str, str]:
    return {
        "title": text.title,
        "body": text.body,
        "search_vector": search_vector(text),
        "text_hash": text_hash(text.title, text.body),
    }


def _to_row(document: MailDocument, vector: Vector | None) -> dict[str, Any]:
    return {
        "id": document.id,
        "kind": document.kind,
        "project_ids": document.project_ids,
        "sender_key": document.sender_key,
        "recipient_keys": document.recipient_keys,
        "thread_id": document.thread_id,
        "importance": document.importance,
        "ack_required": document.ack_required,
        "created_ts": document.created_ts,
        "embedding": None if vector is None else to_bytes(vector).hex(),
        **_searched(document.text),
    }
