"""The rows of mcp.mail_documents, and what they say as documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.documents.checks import Finding
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import Refusal
from skillroute.core.hashing import text_hash
from skillroute.core.postgres.database import Session
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.documents import MailDocument
from skillroute.mail.text import SearchText, indexed_text, search_vector, terms_of


@dataclass(frozen=True, slots=True)
class MailText:
    """The title and body of a document as written, and the hashes of its searched texts.

    Attributes
    ----------
    title, body : str
        As `SearchText.of` takes them, secrets included.
    text_hash : str
        Of the text whose words are looked for in PostgreSQL.
    document_hash : str or None
        Of the text that is embedded and in the index; None when there is none.
    """

    id: int
    title: str
    body: str
    text_hash: str
    document_hash: str | None


class MailDocuments:
    """The documents of mail that are searched."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self._documents = DocumentRepository(session, MAIL_DOCUMENTS)

    def put_documents(
        self,
        org_id: str | None,
        model: EmbeddingModel | None,
        documents: Sequence[tuple[MailDocument, Vector | Refusal | None]],
    ) -> None:
        """Store documents; `model` is that of their vectors. A vector of the same text stays, another one goes."""
        rows = [_to_row(document) for document, _ in documents]
        self._run("put_mail_documents", org_id=org_id, rows=json.dumps(rows, ensure_ascii=False))
        self._documents.put(
            [DocumentText(str(document.id), indexed_text(document.text), vector) for document, vector in documents],
            model,
            to_terms=terms_of,
        )

    def count(self) -> int:
        """Return how many documents there are."""
        count: int = self._run("count_mail_documents")[0][0]
        return count

    def load_sources(self, *, after: int, limit: int, every: int = 1) -> list[MailText]:
        """Return what was written of documents, by id; of about one in `every`."""
        return [MailText(*row) for row in self._run("mail_sources", after=after, limit=limit, every=every)]

    def with_other_words(self, texts: Sequence[tuple[int, SearchText]]) -> set[int]:
        """Return which of these documents have other words than these texts, whose hash is stored."""
        rows = [{"id": id_, **_searched(text)} for id_, text in texts]
        return {row[0] for row in self._run("mail_with_other_words", rows=json.dumps(rows))}

    def broken_rules(self, limit: int) -> list[Finding]:
        """Return rows that break a rule, all seen in one snapshot."""
        return [Finding(*row) for row in self._run("broken_mail_rules", limit=limit)]

    def set_texts(self, texts: Sequence[tuple[int, SearchText, str]]) -> None:
        """Store what documents are found by, where their hash is still this one."""
        rows = [{"id": id_, "old_hash": old_hash, **_searched(text)} for id_, text, old_hash in texts]
        written = {row[0] for row in self._run("set_mail_words", rows=json.dumps(rows))}
        documents = [DocumentText(str(id_), indexed_text(text)) for id_, text, _ in texts if id_ in written]
        self._documents.put(documents, to_terms=terms_of)


def _searched(text: SearchText) -> dict[str, str]:
    return {"search_vector": search_vector(text), "text_hash": text_hash(text.title, text.body)}


def _to_row(document: MailDocument) -> dict[str, Any]:
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
        **_searched(document.text),
    }
