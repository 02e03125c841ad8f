"""The port of embedding models, which turn texts into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.time.deadline import Callee

EMBEDDING_MODEL = Callee("the embedding model", EmbeddingUnavailable, thread_name="embed")
"""Whom deadlines of embedding name."""


class Embedder(Protocol):
    """Turns texts into vectors of one model."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        The vector of a text does not depend on the other texts.

        Raises
        ------
        TextRefused
            The model does not take one of these texts, or so many at once; which one it is, is not known.
        EmbeddingUnavailable
            The model failed or did not answer within `timeout_s` seconds, retries included.
        """
        ...


@dataclass(frozen=True)
class OtherForm:
    """Embeds with an embedder's model, and over its connections, in another form than that embedder does.

    Attributes
    ----------
    of : Embedder
    embed_as : callable
        Takes the texts and the seconds; returns and raises what `Embedder.embed` does.
    """

    of: Embedder
    embed_as: Callable[[Sequence[str], float], list[Vector]]

    @property
    def model(self) -> EmbeddingModel:
        return self.of.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1."""
        return self.embed_as(texts, timeout_s)


@runtime_checkable
class HasMessages(Protocol):
    """Of embedders that embed messages in another way than tools and requests for them (docs/adr/0048)."""

    def for_messages(self) -> Embedder:
        """Return the embedder of messages and of queries for them, of the same model."""
        ...


@runtime_checkable
class HasQueries(Protocol):
    """Of embedders whose models embed a query in another way than what is searched."""

    def for_queries(self) -> Embedder:
        """Return the embedder of queries, of the same model."""
        ...


def query_embedder(embedder: Embedder) -> Embedder:
    """Return the embedder of queries: the same, where the model makes no difference."""
    return embedder.for_queries() if isinstance(embedder, HasQueries) else embedder


def message_embedder(embedder: Embedder) -> Embedder:
    """Return the embedder of messages: the same, where the model knows one kind of text only.

    No file of the model is read for it.
    """
    return embedder.for_messages() if isinstance(embedder, HasMessages) else embedder
