"""Texts that wait for a vector, and rows that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import Refusal


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What an item or a skill says to the index: the texts that are embedded, the words for BM25, and their hash.

    The first of `embedding_texts` is the whole of it; the others are views that count half (docs/adr/0003).
    """

    embedding_texts: tuple[str, ...]
    lexical_text: str
    hash: str


@dataclass(frozen=True, slots=True)
class EmbeddingTask:
    """Texts without a vector. Their hash keeps a late vector from being stored beside newer texts."""

    id: str
    texts: tuple[str, ...]
    text_hash: str


class EmbeddedRows(Protocol):
    """Rows with a text and a vector, of which some have no vector, or one of another model."""

    def to_embed(self, model: EmbeddingModel, *, limit: int) -> list[EmbeddingTask]:
        """Return rows that wait for a vector of `model`: the first of each organisation before the second of any."""
        ...

    def to_reembed(self, model: EmbeddingModel, *, after: str, limit: int) -> list[EmbeddingTask]:
        """Return rows without a vector of `model` that it does not refuse, by id."""
        ...

    def lock(self, keys: Sequence[str]) -> None:
        """Lock rows to the end of the transaction."""
        ...

    def set_embeddings(self, model: EmbeddingModel, made: Sequence[tuple[EmbeddingTask, Vector | Refusal]]) -> set[str]:
        """Store vectors, or why there is none, where the text is still the one they were made of.

        Return the ids of rows that another transaction has locked, of which nothing was stored.
        """
        ...
