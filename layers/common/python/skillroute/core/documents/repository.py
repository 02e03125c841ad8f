"""The rows of mcp.documents and of mcp.document_vectors (docs/adr/0033)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.model import IndexRecord
from skillroute.core.documents.search_words import ToTerms, store_words
from skillroute.core.documents.texts import EmbeddingTask, IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes, to_bytes
from skillroute.core.embedding.views import Refusal
from skillroute.core.postgres.database import Session


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The texts of a document, and the vector of them where there is one; all else comes from its row.

    Attributes
    ----------
    key : str
        The row's id as text, or the skill's key.
    embedding : Vector, Refusal or None
        None: it waits for its vector.
    """

    key: str
    text: IndexedText
    embedding: Vector | Refusal | None = None


@dataclass(frozen=True, slots=True)
class PutDocument:
    """Whether a document or its vector changed, whether it has a vector that is searched now, or is refused."""

    is_changed: bool
    is_embedded: bool
    is_refused: bool = False


class DocumentRepository:
    """The documents of one collection."""

    def __init__(self, session: Session, collection: Collection) -> None:
        self._run = session.run
        self._collection = collection.value

    @classmethod
    def of(cls, collection: Collection) -> Callable[[Session], DocumentRepository]:
        """Return what makes the repository of a collection within a transaction."""
        return lambda session: cls(session, collection)

    def put(
        self,
        documents: Sequence[DocumentText],
        model: EmbeddingModel | None = None,
        *,
        keep_derived: bool = False,
        to_terms: ToTerms | None = None,
    ) -> dict[str, PutDocument]:
        """Write the texts of rows that are there, and return what became of them, by key.

        A vector of the same texts stays, another one goes.

        Parameters
        ----------
        documents : sequence of DocumentText
            Of distinct keys.
        model : EmbeddingModel or None
            That of their vectors and refusals; None when none has either.
        keep_derived : bool
            Whether a document is found by its former vector until there is one of the new text.
        to_terms : callable, optional
            Cuts the words of a collection that the index does not cut itself.
        """
        if not documents:
            return {}
        rows = self._run(
            "put_documents",
            collection=self._collection,
            rows=json.dumps([_to_row(document) for document in documents], ensure_ascii=False),
            model=model.name if model else None,
            dimension=model.dimension if model else None,
            keep_derived=keep_derived,
        )
        waiting = self._run(
            "points_without_words", collection=self._collection, keys=[document.key for document in documents]
        )
        store_words(self._run, self._collection, waiting, to_terms)
        return {key: PutDocument(*became) for key, *became in rows}

    def hashes(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the hashes of stored texts; unknown keys are left out."""
        return dict(self._run("document_hashes", collection=self._collection, keys=list(keys)))

    def tasks(self, keys: Sequence[str], model: EmbeddingModel) -> list[EmbeddingTask]:
        """Return those of these documents that wait for a vector of `model`."""
        return [_to_task(row) for row in self._run("document_tasks", **self._in(model), keys=list(keys))]

    def refused(self, keys: Sequence[str], model: EmbeddingModel) -> set[str]:
        """Return which of these documents have texts that `model` refuses."""
        return {row[0] for row in self._run("refused_documents", **self._in(model), keys=list(keys))}

    def without_vector(self, keys: Sequence[str], model: EmbeddingModel) -> set[str]:
        """Return which of these documents have no vector of `model`, whether they wait for one or are refused."""
        return {row[0] for row in self._run("documents_without_vector", **self._in(model), keys=list(keys))}

    def to_embed(self, model: EmbeddingModel, *, limit: int) -> list[EmbeddingTask]:
        """Return documents that wait for a vector of `model`: the first of each organisation before any second."""
        return [_to_task(row) for row in self._run("documents_to_embed", **self._in(model), limit=limit)]

    def to_reembed(self, model: EmbeddingModel, *, after: str, limit: int) -> list[EmbeddingTask]:
        """Return documents without a vector of `model` that it does not refuse, by key."""
        rows = self._run("documents_to_reembed", **self._in(model), after=after, limit=limit)
        return [_to_task(row) for row in rows]

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        """Return how many documents have no vector of `model` and are not refused by it."""
        count: int = self._run("count_documents_to_reembed", **self._in(model))[0][0]
        return count

    def lock(self, keys: Sequence[str]) -> None:
        """Lock documents to the end of the transaction, in the order of their keys."""
        self._run("lock_documents", collection=self._collection, keys=list(keys))

    def set_embeddings(self, model: EmbeddingModel, made: Sequence[tuple[EmbeddingTask, Vector | Refusal]]) -> set[str]:
        """Store vectors, or why there is none, where the text is still the one they were made of.

        Nothing is stored of a model that is out of use. A refusal leaves alone what somebody else got a vector of
        meanwhile.

        Returns
        -------
        set of str
            The keys of documents that another transaction has locked: nothing was stored of these.
        """
        rows = [{"id": task.id, "text_hash": task.text_hash, **_to_columns(vector)} for task, vector in made]
        return {row[0] for row in self._run("set_document_vectors", **self._in(model), rows=json.dumps(rows))}

    def keys(self, *, after: str, limit: int) -> list[str]:
        """Return keys of documents, ascending."""
        return [row[0] for row in self._run("document_keys", collection=self._collection, after=after, limit=limit)]

    def stale(self, keys: Sequence[str]) -> list[str]:
        """Return which of these documents say something else than their rows, or have none."""
        return [row[0] for row in self._run("stale_documents", collection=self._collection, keys=list(keys))]

    def project(self, keys: Sequence[str]) -> None:
        """Bring documents up to their rows; those without one go."""
        self._run("project_documents", collection=self._collection, keys=list(keys))
        if gone := self.stale(keys):
            self._run("delete_documents", collection=self._collection, keys=gone)

    def vector(self, key: str, model: EmbeddingModel) -> Vector | None:
        """Return the vector of a document's own texts; None while it is waited for."""
        rows = self._run("document_vector", **self._in(model), key=key)
        return from_bytes(rows[0][0]) if rows and rows[0][0] is not None else None

    def derive(self, key: str, model: EmbeddingModel, vector: Vector | None) -> bool:
        """Let a document be found by this vector instead of its texts'; None ends that. False: it was so already."""
        as_hex = None if vector is None else to_bytes(vector).hex()
        return bool(self._run("derive_vector", **self._in(model), key=key, vector=as_hex))

    def _in(self, model: EmbeddingModel) -> dict[str, Any]:
        return {"collection": self._collection, "model": model.name, "dimension": model.dimension}


def to_record(row: list[Any], to_terms: ToTerms | None) -> IndexRecord:
    """Read a row of the load_documents statements."""
    key, embedding, lexical_text, payload = row
    return IndexRecord(
        key=key,
        vector=None if embedding is None else from_bytes(embedding),
        text="" if to_terms else lexical_text,
        payload=payload,
        impacts=to_terms(lexical_text) if to_terms else None,
    )


def _to_row(document: DocumentText) -> dict[str, Any]:
    return {
        "key": document.key,
        "texts": list(document.text.embedding_texts),
        "lexical_text": document.text.lexical_text,
        "text_hash": document.text.hash,
        **_to_columns(document.embedding),
    }


def _to_columns(made: Vector | Refusal | None) -> dict[str, str | None]:
    """Return the columns `embedding` and `refusal`, of which one at most has a value."""
    if made is None or isinstance(made, Refusal):
        return {"embedding": None, "refusal": None if made is None else made.reason}
    return {"embedding": to_bytes(made).hex(), "refusal": None}


def _to_task(row: list[Any]) -> EmbeddingTask:
    key, texts, text_hash = row
    return EmbeddingTask(key, tuple(texts), text_hash)
