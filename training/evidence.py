"""What the search would know of judged requests: their candidates, with the program's own embedder, BM25 and texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from data import ROOT, Pool, Query, Tool
from skillroute.catalogue.mentions import Named, mentions
from skillroute.catalogue.names import name_key
from skillroute.core.documents.index.bm25 import Bm25Encoder
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.views import VIEW_WEIGHTS
from skillroute.core.ranking.learned_fusion import FEATURES, ClauseEvidence, Evidence, FusedRequest, features
from skillroute.search.candidates.clauses import clauses
from skillroute.search.plan import CANDIDATE_POOL
from skillroute.search.ranking.hybrid import CLAUSE_POOL

MAX_QUERY_LENGTH = 1000
VECTORS = ROOT / ".bench" / "vectors"
"""Where vectors of texts are kept, by model; `benchmarks/corpora/crowd.py` reads and writes the same files."""

_LEFT_OUT = -2.0
"""In place of a cosine: less than any."""

Array = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
LeftOut = Callable[[Query], Collection[int]]


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a set's requests, a row each, those of a request together.

    Attributes
    ----------
    query : int [rows], which request
    cosine, bm25, clause_margin : float [rows]
    leads_clause, is_named : bool [rows]
    need : int [rows], the need that a candidate serves, -1 for none
    place : int [rows], where in its pool a candidate stands
    words, weight, clauses, needs, held_out : [requests]
    """

    query: Array
    cosine: Array
    bm25: Array
    clause_margin: Array
    leads_clause: Array
    is_named: Array
    need: Array
    place: Array
    words: Array
    weight: Array
    clauses: Array
    needs: Array
    held_out: Array

    def bounds(self) -> list[tuple[int, int]]:
        """Return the first row of each request and the first behind it."""
        edges = np.searchsorted(self.query, np.arange(len(self.needs) + 1)).tolist()
        return list(pairwise(edges))

    def evidence(self, first: int, last: int) -> list[Evidence]:
        """Return what is known of the candidates in some rows."""
        columns = (self.cosine, self.bm25, self.clause_margin, self.leads_clause)
        rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
        return [Evidence(max(0.0, cosine), bm25, margin, leads > 0) for cosine, bm25, margin, leads in rows]

    def request(self, number: int) -> FusedRequest:
        """Return what is known of a request."""
        return FusedRequest(int(self.words[number]), float(self.weight[number]), int(self.clauses[number]))

    def features(self) -> Array:
        """Return the search's features of each candidate, float [rows, features]."""
        rows: list[tuple[float, ...]] = []
        for request, (first, last) in enumerate(self.bounds()):
            rows += features(self.request(request), self.evidence(first, last))
        return np.array(rows, np.float64).reshape(-1, len(FEATURES))


def vectors_of(tools: Sequence[Tool], embedder: OnnxEmbedder) -> Vectors:
    """Return the vectors of tools, as the catalogue makes them of their views."""
    vectors: Vectors = sum(
        weight * _embedded(embedder, [tool.views[view] for tool in tools]) for view, weight in enumerate(VIEW_WEIGHTS)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


class Postings:
    """BM25 of tools, added up from the tools that each term stands in."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._encoder = Bm25Encoder()
        self._count = len(tools)
        listed: dict[int, list[tuple[int, float]]] = {}
        for place, tool in enumerate(tools):
            document = self._encoder.document(tool.words)
            for term, value in zip(document.indices, document.values, strict=True) if document else ():
                listed.setdefault(term, []).append((place, value))
        self._of_term = {
            term: (np.array([place for place, _ in found]), np.array([value for _, value in found]))
            for term, found in listed.items()
        }

    def scores(self, text: str) -> tuple[Array, float]:
        """Return the score of every tool for a request, and the weight of the request's words together."""
        terms = self._encoder.query(text)
        scores = np.zeros(self._count)
        for term, weight in zip(terms.indices, terms.values, strict=True) if terms else ():
            if term in self._of_term:
                places, values = self._of_term[term]
                scores[places] += weight * values
        return scores, sum(terms.values) if terms else 0.0


@dataclass(frozen=True, slots=True)
class Signals:
    """The cosine and the BM25 of every tool for a text: float [tools]. Tools that are left out come behind all."""

    cosine: Vectors
    bm25: Array
    weight: float

    def nearest(self, most: int) -> list[int]:
        """Return the places of tools with the highest cosines."""
        return [place for place in _first(self.cosine, most) if self.cosine[place] > _LEFT_OUT]

    def by_words(self, most: int) -> list[int]:
        """Return the places of tools with the highest BM25."""
        return [place for place in _first(self.bm25, most) if self.bm25[place] > 0]


class Searched:
    """The tools of a pool, as the search finds them."""

    def __init__(self, pool: Pool, embedder: OnnxEmbedder) -> None:
        self._embedder = embedder
        self._tools = list(pool.tools.values())
        self._vectors = vectors_of(self._tools, embedder)
        self._postings = Postings(self._tools)
        self._named: dict[str, list[int]] = {}
        for place, tool in enumerate(self._tools):
            self._named.setdefault(name_key(tool.name), []).append(place)

    def called(self, keys: Iterable[str]) -> list[int]:
        """Return the places of tools whose names have these keys."""
        return [place for key in keys for place in self._named.get(key, ())]

    def named(self, text: str) -> set[int]:
        """Return the places of tools that a request names."""
        found = mentions(text)
        tools = [(place, self._tools[place]) for place in self.called(found.keys)]
        return {int(key) for key in found.named(Named(str(p), t.name, t.server) for p, t in tools)}

    def candidates(
        self, query: Query, parts: Sequence[str], without: list[int], named: Collection[int] | None = None
    ) -> tuple[list[tuple[float, ...]], float]:
        """Return the columns `cosine` to `place` of `Judged`, a row for each candidate, and the weight of the words.

        Candidates are the nearest, those with the highest BM25, those that are named, and those of the clauses `parts`.
        """
        text = query.text[:MAX_QUERY_LENGTH]
        signals = self._signals(text, without)
        by_name = set(self.named(text) if named is None else named).difference(without)
        found = [self._of_clause(part, without) for part in parts]
        by_clauses = {int(key) for clause in found for key in clause.candidates}
        places = {*signals.nearest(CANDIDATE_POOL), *signals.by_words(CANDIDATE_POOL), *by_name, *by_clauses}
        rows = []
        for place in sorted(places):
            need = next((n for n, ids in enumerate(query.needs) if self._tools[place].id in ids), -1)
            margin = max((clause.margin(str(place)) for clause in found), default=0.0)
            leads = any(str(place) in clause.first_by_words for clause in found)
            rows.append((signals.cosine[place], signals.bm25[place], margin, leads, place in by_name, need, place))
        return rows, signals.weight

    def _signals(self, text: str, without: list[int]) -> Signals:
        cosine = self._vectors @ _embedded(self._embedder, [text])[0]
        bm25, weight = self._postings.scores(text)
        cosine[without], bm25[without] = _LEFT_OUT, 0.0
        return Signals(cosine, bm25, weight)

    def _of_clause(self, clause: str, without: list[int]) -> ClauseEvidence:
        signals = self._signals(clause, without)
        return ClauseEvidence.of(
            {str(place): max(0.0, float(signals.cosine[place])) for place in signals.nearest(CLAUSE_POOL)},
            {str(place): float(signals.bm25[place]) for place in signals.by_words(CLAUSE_POOL)},
        )


def collect(pool: Pool, queries: Sequence[Query], embedder: OnnxEmbedder, left_out: LeftOut | None = None) -> Judged:
    """Return the candidates of requests.

    `left_out` gives for a request the places of tools that the pool shall lack for it.
    """
    searched = Searched(pool, embedder)
    texts = [query.text[:MAX_QUERY_LENGTH] for query in queries]
    parts = [clauses(text) for text in texts]
    _embedded(embedder, texts)  # many at once, and remembered
    _embedded(embedder, [part for of_query in parts for part in of_query])
    rows: list[tuple[float, ...]] = []
    weights = []
    for number, query in enumerate(queries):
        without = list(left_out(query)) if left_out else []
        found, weight = searched.candidates(query, parts[number], without)
        rows += [(number, *row) for row in found]
        weights.append(weight)
    return Judged(
        *np.array(rows, np.float64).T,
        words=np.array([len(text.split()) for text in texts]),
        weight=np.array(weights),
        clauses=np.array([len(of_query) for of_query in parts]),
        needs=np.array([len(query.needs) for query in queries]),
        held_out=np.array([pool.is_held_out(query) for query in queries]),
    )


@dataclass(frozen=True, slots=True)
class Collected:
    """Evidence for an encoder, collected once and kept in a folder; remove it when texts, BM25 or requests changed."""

    embedder: OnnxEmbedder
    folder: Path

    @classmethod
    def of(cls, model: str, cache: Path) -> Self:
        """Open a packaged model; its evidence has a folder of its own in `cache`, by the model's checksum."""
        packaged = ROOT / "layers/inference/models" / model
        embedder = OnnxEmbedder(packaged)
        checksum = json.loads((packaged / "model.json").read_text(encoding="utf-8"))["sha256"]
        return cls(embedder, cache / f"{embedder.model.name}-{checksum[:12]}")

    def __call__(
        self, name: str, pool: Pool | Callable[[], Pool], queries: Sequence[Query], left_out: LeftOut | None = None
    ) -> Judged:
        """Return what `collect` does, from the file of this name once there is one; only without it a pool is made."""
        file = self.folder / f"{name}.npz"
        if not file.exists():
            print(f"collecting {name}", file=sys.stderr, flush=True)
            made = pool if isinstance(pool, Pool) else pool()
            judged = collect(made, queries, self.embedder, left_out)
            self.folder.mkdir(parents=True, exist_ok=True)
            np.savez(file, **{field: getattr(judged, field) for field in Judged.__slots__})
        return Judged(**np.load(file))


_embedded_before: dict[str, dict[str, Vectors]] = {}
"""Vectors by model and text: of one request there are several variants, and of one catalogue several searches."""


def _embedded(embedder: OnnxEmbedder, texts: Sequence[str]) -> Vectors:
    known = _embedded_before.setdefault(embedder.model.name, {})
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        known |= zip(new, np.array(embedder.embed(new, timeout_s=3600), np.float32), strict=True)
    return np.array([known[text] for text in texts], np.float32)


def remember(embedder: OnnxEmbedder, file: Path) -> None:
    """Take the vectors that `keep` wrote for an embedder, if it did."""
    if file.exists():
        stored = np.load(file, allow_pickle=True)
        _embedded_before[embedder.model.name] = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))


def keep(embedder: OnnxEmbedder, file: Path) -> None:
    """Write all vectors that an embedder made, for another process."""
    known = _embedded_before.get(embedder.model.name, {})
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, texts=np.array(list(known), dtype=object), vectors=np.array(list(known.values()), np.float32))


def _first(scores: npt.NDArray[Any], most: int) -> list[int]:
    if len(scores) <= most:
        return list(range(len(scores)))
    return [int(place) for place in np.argpartition(-scores, most)[:most]]
