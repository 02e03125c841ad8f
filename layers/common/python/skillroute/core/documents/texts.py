"""The texts of a document, and texts that wait for a vector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The texts of a document for the index: those that are embedded, the words for BM25, and the hash of both.

    The first of `embedding_texts` is the whole of it; the next two are views that count half (docs/adr/0003), and any
    others requests that it serves (docs/adr/0067). One that begins with `CONTEXT_MARK` comes last: what is said of that
    which it belongs to (docs/adr/0069).
    """

    embedding_texts: tuple[str, ...]
    lexical_text: str
    hash: str


@dataclass(frozen=True, slots=True)
class EmbeddingTask:
    """Texts without a vector. Their hash keeps a late vector from being stored with newer texts."""

    id: str
    texts: tuple[str, ...]
    text_hash: str
