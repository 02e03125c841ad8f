"""An embedder without a model: hashed words and letter trigrams. For tests and benchmarks, not for search quality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from zlib import crc32

from skillroute.core.embedding.model import EmbeddingModel, Vector, normalise

_WORD = re.compile(r"[^\W_]+")
_WORD_WEIGHT = 1.0
_TRIGRAM_WEIGHT = 0.4  # a word of six letters then weighs about as much through its trigrams as by itself


class HashingEmbedder:
    """Feature hashing (Weinberger et al. 2009): each word and each trigram adds its weight, signed, to one dimension.

    Texts that share words, or parts of words, point in similar directions. The same text gives the same vector in every
    process and on every machine. Never fails.

    Parameters
    ----------
    dimension : int
        Length of the vectors.

    Examples
    --------
    >>> send, mail, prime = HashingEmbedder().embed(["send an email", "send e-mail", "prime numbers"], timeout_s=1)
    >>> sum(a * b for a, b in zip(send, mail)) > sum(a * b for a, b in zip(send, prime))
    True
    """

    def __init__(self, dimension: int = 384) -> None:
        self._model = EmbeddingModel("hashing", dimension)

    @property
    def model(self) -> EmbeddingModel:
        """Always named "hashing"."""
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1. `timeout_s` is not needed: ten words take about 20 us."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        dimension = self._model.dimension
        vector = [0.0] * dimension
        for feature, weight in _features(text):
            code = crc32(feature)
            vector[(code >> 1) % dimension] += weight if code & 1 else -weight
        unit = normalise(vector)
        if unit is None:  # no word in it, or its features cancelled out: the text as a whole is its only feature
            vector[crc32(text.encode("utf-8", "replace")) % dimension] = 1.0
            return vector
        return unit


def _features(text: str) -> Iterator[tuple[bytes, float]]:
    for word in _WORD.findall(text.casefold()):
        yield f"w:{word}".encode("utf-8", "replace"), _WORD_WEIGHT
        edged = f"<{word}>"
        for start in range(len(edged) - 2):
            yield edged[start : start + 3].encode("utf-8", "replace"), _TRIGRAM_WEIGHT
