"""A baseline of one page of code: BM25, the cosine of one vector a tool, and reciprocal rank fusion of the two.

All three read the same text of a tool: server, name, description, arguments and their descriptions. Of the texts that
were tried (with and without server and arguments, words split and stemmed or not) it was the best for both halves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from answering import LIMIT, Json, Search, serve
from local_model import LocalModel

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_POOL = 100
"""How many of each ranking are fused."""
_RRF_K = 60.0

Ranking = Callable[[str, int], Sequence[int]]


def load(given: Json) -> Mapping[str, Search]:
    ids = [tool["id"] for tool in given["tools"]]
    texts = [_text(tool) for tool in given["tools"]]
    bm25, cosine = _bm25(texts), _cosine(texts, LocalModel(Path(given["encoders"]["all-minilm-l6-v2"])))

    def rrf(query: str, limit: int) -> Sequence[int]:
        scores: dict[int, float] = {}
        for ranking in (bm25, cosine):
            for rank, place in enumerate(ranking(query, _POOL), 1):
                scores[place] = scores.get(place, 0.0) + 1.0 / (_RRF_K + rank)
        return sorted(scores, key=lambda place: -scores[place])[:limit]

    def named(ranking: Ranking) -> Search:
        return lambda query: [ids[place] for place in ranking(query, LIMIT)]

    return {"bm25": named(bm25), "cosine": named(cosine), "rrf": named(rrf)}


def _text(tool: Json) -> str:
    words = [tool.get("server") or "", f"{tool['name']}: {tool.get('description') or ''}"]
    for name, about in ((tool.get("input_schema") or {}).get("properties") or {}).items():
        words += [name, str(about.get("description") or "") if isinstance(about, dict) else ""]
    return " ".join(filter(None, words))


def _bm25(texts: Sequence[str]) -> Ranking:
    stemmer = Stemmer.Stemmer("english")

    def tokens(batch: Sequence[str]) -> bm25s.tokenization.Tokenized:
        split = [_CAMEL_CASE.sub(" ", text).replace("_", " ") for text in batch]
        return bm25s.tokenize(split, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(texts), show_progress=False)

    def ranked(query: str, limit: int) -> Sequence[int]:
        found, scores = index.retrieve(tokens([query]), k=min(limit, len(texts)), show_progress=False)
        return [int(place) for place, score in zip(found[0], scores[0], strict=True) if score > 0.0]

    return ranked


def _cosine(texts: Sequence[str], model: LocalModel) -> Ranking:
    vectors = np.array(model(texts), np.float32)

    def ranked(query: str, limit: int) -> Sequence[int]:
        scores = vectors @ np.array(model([query])[0], np.float32)
        best = np.argpartition(-scores, min(limit, len(texts)) - 1)[:limit]
        return [int(place) for place in best[np.argsort(-scores[best], kind="stable")]]

    return ranked


if __name__ == "__main__":
    serve(load, ["bm25s", "numpy", "onnxruntime"])
