"""The query's embedding: made once for all stages, remembered, and given up on for a while when the model fails."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from skillroute.core.bounded_cache import BoundedCache
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder, message_embedder, query_embedder
from skillroute.core.embedding.views import require_harmless
from skillroute.core.errors.model import EmbeddingModelMismatch, EmbeddingUnavailable, TextRefused
from skillroute.core.observability import Metric, count, logger
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown
from skillroute.core.time.deadline import Deadline

CACHE_BYTES = 64 * 1024 * 1024
"""The memory that remembered vectors may take: 5,000 of 384 dimensions, 600 of 3,072."""

_BYTES_A_FLOAT = 32  # in a list: 24 for itself, 8 for where it is


@dataclass
class _Memory:
    """Vectors, embedders and failures that embedders of queries of the same models share."""

    # By the query's hash: a query may be 40 KB itself.
    cache: BoundedCache[tuple[EmbeddingModel, bool, bytes], Vector]
    others: dict[EmbeddingModel, Embedder | None] = field(default_factory=dict)
    cooldowns: dict[EmbeddingModel, Cooldown] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class QueryEmbedder:
    """Embeds queries through an `Embedder`, with a cache and a memory of failure.

    Parameters
    ----------
    embedder : Embedder
    embedder_of : callable
        Returns an embedder of another model, where the provider has it; None where it has not.
    timeout_s : float
        The most a query waits (EC-009).
    cache_size : int
        Queries remembered, within `CACHE_BYTES`; the least recently used goes first.
    retry_after_s : float
        How long after a failure the model is left alone, so that not every search waits for it (decision 9).
    """

    def __init__(
        self,
        embedder: Embedder,
        embedder_of: Callable[[EmbeddingModel], Embedder | None] = lambda _: None,
        *,
        timeout_s: float = 10.0,
        cache_size: int = 2048,
        retry_after_s: float = 30.0,
        clock: Clock = time.monotonic,
        _shared: _Memory | None = None,
    ) -> None:
        self._embedder = embedder
        self._embedder_of = embedder_of
        self._timeout_s = timeout_s
        self._retry_after_s = retry_after_s
        self._clock = clock
        self._cache_size = cache_size
        self._is_for_messages = _shared is not None
        self._memory = _shared or _Memory(
            BoundedCache(
                max_entries=cache_size, max_bytes=CACHE_BYTES, size_of=lambda vector: _BYTES_A_FLOAT * len(vector)
            )
        )

    def for_messages(self) -> QueryEmbedder:
        """Return what embeds queries for messages: with the same models, cache and memory of failures."""
        return QueryEmbedder(
            self._embedder,
            self._embedder_of,
            timeout_s=self._timeout_s,
            cache_size=self._cache_size,
            retry_after_s=self._retry_after_s,
            clock=self._clock,
            _shared=self._memory,
        )

    def model(self) -> EmbeddingModel | None:
        """Return the model that queries are embedded with, or None while it is unknown."""
        try:
            return self._embedder.model
        except EmbeddingUnavailable:
            return None

    def remembers(self, count: int) -> bool:
        """Return whether so many texts that are embedded now are remembered together."""
        return count <= self._cache_size

    def can_embed(self, model: EmbeddingModel) -> bool:
        """Return whether queries can be embedded with a model; it may be away nevertheless."""
        return self._of(model) is not None

    def embed(self, query: str, model: EmbeddingModel, *, timeout_s: float | None = None) -> Vector:
        """Return the query's vector.

        Parameters
        ----------
        model : EmbeddingModel
            That of the vectors that are searched: this process's own, or one that a change of model has left behind.
        timeout_s : float or None
            Less than the usual time, where the caller has less. What then takes too long need not for another query:
            the model is not left alone for it.

        Raises
        ------
        EmbeddingModelMismatch
            This process cannot embed with that model.
        TextRefused
            The model does not take this query.
        EmbeddingUnavailable
            The model failed now, or less than `retry_after_s` seconds ago; or no time is left to ask it.
        """
        return self.embed_all([query], model, timeout_s=timeout_s)[0]

    def embed_all(self, texts: Sequence[str], model: EmbeddingModel, *, timeout_s: float | None = None) -> list[Vector]:
        """Return the vectors of a query and its parts, in order; those that are not remembered in one call.

        Takes and raises what `embed` does; `TextRefused` when the model does not take one of them.
        """
        given_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        key_of = {text: self._key(text, model) for text in texts}
        known = {text: vector for text, key in key_of.items() if (vector := self._memory.cache.get(key)) is not None}
        new = [text for text in key_of if text not in known]
        if new:
            known.update(zip(new, self._embed_new(new, model, given_s), strict=True))
            for text in new:
                self._memory.cache.put(key_of[text], known[text])
        return [known[text] for text in texts]

    def _embed_new(self, texts: Sequence[str], model: EmbeddingModel, given_s: float) -> list[Vector]:
        embedder, cooldown = self._of(model), self._cooldown(model)
        if embedder is None:
            raise EmbeddingModelMismatch(stored=str(model), configured=str(self._embedder.model))
        if (reason := cooldown.failure()) is not None:
            raise EmbeddingUnavailable(reason)
        if given_s <= 0.0:
            raise EmbeddingUnavailable("no time is left for the embedding model")
        begun = self._clock()
        try:
            embedder = message_embedder(embedder) if self._is_for_messages else embedder
            vectors = _asked(query_embedder(embedder), texts, Deadline(given_s, self._clock, callee=EMBEDDING_MODEL))
        except TextRefused as error:
            # Of this query alone: the next one has another text.
            count(Metric.EMBEDDING_REFUSED)
            logger.warning("query refused by the embedding model", extra={"reason": str(error)})
            raise
        except EmbeddingUnavailable as error:
            # Waits end a little early or late by another clock.
            had_too_little = given_s < self._timeout_s and self._clock() - begun >= 0.9 * given_s
            if not had_too_little:
                cooldown.failed(str(error))
            count(Metric.EMBEDDING_FAILED)
            logger.warning("embedding model unavailable", extra={"reason": str(error)})
            raise
        cooldown.succeeded()
        return vectors

    def failure(self, model: EmbeddingModel) -> str | None:
        """Return why a model is being left alone, or None."""
        return self._cooldown(model).failure()

    def _cooldown(self, model: EmbeddingModel) -> Cooldown:
        with self._memory.lock:
            return self._memory.cooldowns.setdefault(model, Cooldown(self._retry_after_s, self._clock))

    def _key(self, text: str, model: EmbeddingModel) -> tuple[EmbeddingModel, bool, bytes]:
        return model, self._is_for_messages, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    def _of(self, model: EmbeddingModel) -> Embedder | None:
        # An embedder that cannot say which it is, is asked: it says why.
        if self.model() in (None, model):
            return self._embedder
        with self._memory.lock:
            if model not in self._memory.others:
                self._memory.others[model] = self._embedder_of(model)
            return self._memory.others[model]


def _asked(embedder: Embedder, texts: Sequence[str], deadline: Deadline) -> list[Vector]:
    """Ask the model. Raises `TextRefused` only where it takes other texts."""
    try:
        return embedder.embed(texts, timeout_s=deadline.remaining_s())
    except TextRefused:
        require_harmless(embedder, timeout_s=deadline.remaining_s())
        raise
