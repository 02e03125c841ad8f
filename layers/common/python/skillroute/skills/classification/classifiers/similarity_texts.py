"""The vectors of skills' texts, embedded once each, remembered, and kept for who starts next."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cachetools import LRUCache

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.views import Refusal, embed_or_refuse
from skillroute.core.errors.model import ClassifierUnavailable
from skillroute.core.time.deadline import Deadline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 128
_TOO_LATE = "the embedding model is still busy with the texts of the skills"


class KeepsVectors(Protocol):
    """Keeps vectors where other processes find them. What cannot be read is not there, and nothing is raised."""

    def find(self, model: EmbeddingModel, texts: Sequence[str]) -> Mapping[str, bytes]:
        """Return those that are kept, by text: little-endian float32."""
        ...

    def keep(self, model: EmbeddingModel, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep some, by text."""
        ...


class TextVectors:
    """Remembers vectors by text. Safe to call from several threads: one embeds, the others wait for it.

    Embeds in chunks of 128 and keeps every chunk, so a first call that runs out of time leaves less for the next one.

    Parameters
    ----------
    embedder : Embedder
    capacity : int
        How many vectors are kept, the ones that were needed last: 1.5 KB each at 384 dimensions. More are kept only
        while a single call needs more.
    kept : KeepsVectors, optional
        Asked before the model is, which is then not even loaded where all are there; and given what the model made.
    """

    def __init__(self, embedder: Embedder, *, capacity: int, kept: KeepsVectors | None = None) -> None:
        self._embedder = embedder
        self._kept = kept
        self._vectors: LRUCache[str, NDArray[np.float32]] = LRUCache(capacity)
        # Of calls that have not got all that they need: as many as that is, or they would never get there.
        self._begun: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.float32]:
        """Return the vectors of texts, in order: float32 [texts, dimension]; zeros for one that the model refuses.

        Raises
        ------
        ClassifierUnavailable
            The model failed, or `timeout_s` seconds went by.
        """
        import numpy as np  # noqa: PLC0415 - 70 ms that a function without a classifier should not pay

        deadline = Deadline(timeout_s, callee=EMBEDDING_MODEL)
        if not self._lock.acquire(timeout=max(0.0, timeout_s)):
            raise ClassifierUnavailable(_TOO_LATE)
        try:
            # Taken out first: what comes in now may make them go.
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            self._embed([text for text in dict.fromkeys(texts) if text not in known], deadline)
            vectors = self._begun | known
            self._vectors.update(self._begun)
            self._begun.clear()
        finally:
            self._lock.release()
        found = [vectors[text] for text in texts]
        return np.array(found, np.float32).reshape(len(texts), self._embedder.model.dimension)

    def _embed(self, missing: Sequence[str], deadline: Deadline) -> None:
        import numpy as np  # noqa: PLC0415

        zeros = [0.0] * self._embedder.model.dimension
        missing = self._not_kept([text for text in missing if text not in self._begun])
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            if deadline.is_over:
                raise ClassifierUnavailable(_TOO_LATE)
            made, failure = embed_or_refuse(self._embedder, [(text,) for text in chunk], deadline.left_s)
            # One that the model refuses is near nothing: it must not keep everything else from being classified.
            vectors = [zeros if isinstance(vector, Refusal) else vector for vector in made]
            self._begun.update(zip(chunk, np.array(vectors, np.float32), strict=False))
            self._keep({text: vector for text, vector in zip(chunk, made, strict=False) if isinstance(vector, list)})
            if failure is not None:
                raise ClassifierUnavailable(str(failure)) from failure

    def _not_kept(self, texts: list[str]) -> list[str]:
        """Take what is kept, and return the texts that are not."""
        import numpy as np  # noqa: PLC0415

        if self._kept is None or not texts:
            return texts
        found = self._kept.find(self._embedder.model, texts)
        self._begun.update({text: np.frombuffer(data, "<f4") for text, data in found.items()})
        return [text for text in texts if text not in found]

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        if self._kept is not None and vectors:
            self._kept.keep(self._embedder.model, vectors)
