"""Texts as BM25 sparse vectors, the same for both engines.

A document's vector holds the part of BM25 that a text alone decides (term frequency, saturated and set against its
length), a query's how much each of its words says; the engine adds up the products. k1 = 1.2 and b = 0.75 are Lucene's.
The weights of words are fixed (`core/documents/term_weights.py`), so a score depends on the two texts and on nothing
else in the index (docs/adr/0025).

Chosen by recall@5 over three judged sets (text: name, split name, description; 1,500 queries each; qdrant-edge 0.9;
words weighed by how many of the set's tools have them):

=====================================  ========  =========  =====
analysis, expected length              metatool  sealtools  bfcl
=====================================  ========  =========  =====
words, English stemmer and stop words
  expected length 256 (the default)    0.684     0.809      0.752
  40                                   0.696     0.820      0.759
  20                                   0.702     0.832      0.764
  10                                   0.700     0.844      0.763
words, 40, stemmer, no stop words      0.591     0.776      0.744
words, 40, stop words, no stemmer      0.636     0.835      0.734
words, 40, neither                     0.533     0.798      0.722
code (splits camelCase), 20            0.705     0.836      0.775
**multilingual, 20** (chosen)          0.703     0.833      0.769
=====================================  ========  =========  =====

Expected length: the texts have 9 to 26 tokens on average after stop words (Docker's catalogue 19, LiveMCP's 26).

Multilingual rather than code, because it folds accents: cafe finds café. Its price: 5 µs a query instead of 2. It would
segment Chinese and Japanese as well, but guesses one language for a whole text, and cuts Korean and Thai not at all; so
words of these scripts are cut before it sees a text (`scripts.py`, docs/adr/0066), and its dictionaries, 145 to 170 ms
and 15 to 50 MB at the first such text of a process, are never loaded.
"""

from __future__ import annotations

import zlib
from collections import ChainMap, Counter
from collections.abc import Mapping, MutableMapping
from functools import cache

from qdrant_edge import Bm25, Bm25Config, SparseVector, TokenizerType

from skillroute.core.documents import term_weights
from skillroute.core.documents.index import scripts
from skillroute.core.input.encodable import encodable

_K1 = 1.2
_B = 0.75
_EXPECTED_TOKENS = 20.0


class Bm25Encoder:
    """Encodes documents and queries. Safe to call from several threads: it keeps no state.

    Texts without a word (empty, emoji, stop words only) are None: an empty vector finds nothing and is not found, but
    the engines do not agree on whether it counts as a document.

    Examples
    --------
    >>> Bm25Encoder().query("the of and") is None
    True
    """

    def __init__(self) -> None:
        self._model = _model()

    def document(self, text: str) -> SparseVector | None:
        """Encode a text to be found."""
        return _unless_empty(self._model.embed_document(scripts.in_words(encodable(text))))

    def query(self, text: str) -> SparseVector | None:
        """Encode a text to find by: every distinct word weighs what it does at large, with its inflections."""
        text = encodable(text)
        found = _unless_empty(self._model.embed_query(scripts.in_words(text, to_find=True)))
        if found is None:
            return None
        weights: MutableMapping[int, float] = _weights()
        unknown = term_weights.weight_of(term_weights.UNKNOWN)
        if common := scripts.common_words(text):
            weights = ChainMap(weights_by_place(common), weights)
        return SparseVector(found.indices, [weights.get(place, unknown) for place in found.indices])


def terms_vector(values: Mapping[str, float]) -> SparseVector | None:
    """Return terms that were cut and weighed elsewhere as a sparse vector; None when there are none.

    A term's place is its CRC-32: of 100,000 terms one or two meet another one there, and count for both.
    """
    by_index: dict[int, float] = {}
    for term, value in values.items():
        index = zlib.crc32(term.encode("utf-8", "replace"))
        by_index[index] = max(value, by_index.get(index, 0.0))
    return SparseVector(list(by_index), list(by_index.values())) if by_index else None


@cache
def _model() -> Bm25:
    return Bm25(
        Bm25Config(
            k=_K1,
            b=_B,
            avg_len=_EXPECTED_TOKENS,
            tokenizer=TokenizerType.Multilingual,
            language="english",
        )
    )


def weights_by_place(counts: Mapping[str, int]) -> dict[int, float]:
    """Return the weights of words, of which so many texts have each, by their places in a vector.

    Words of one stem have one place, and are as common as all of them together.
    """
    by_place: Counter[int] = Counter()
    for word, count in counts.items():
        for place in _model().embed_query(word).indices:
            by_place[place] += count
    return {place: term_weights.weight_of(min(count, term_weights.TEXTS)) for place, count in by_place.items()}


@cache
def _weights() -> dict[int, float]:
    """Return the weights of the words of the table; made at the first query of a process, in 15 ms."""
    return weights_by_place(term_weights.counts())


def _unless_empty(vector: SparseVector) -> SparseVector | None:
    return vector if vector.indices else None
