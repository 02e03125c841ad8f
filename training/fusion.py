"""Fit the weights of learned fusion for an embedding model, report what they find, and write them.

    .venv/bin/python training/fusion.py --model all-minilm-l6-v2            # needs no torch

Evidence is collected once for each model and judged set (--cache), with the program's own embedder, BM25 and texts; the
features are those that the search computes. Weights are fitted on requests that the encoder's training may see, by the
cross entropy of a request's right tools among its candidates, every set counting the same; a logistic curve on top
makes probabilities of them. Reported are the requests that neither saw: of the held-out part of each set, and of both
catalogues. `--rotate` leaves each set out in turn instead.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from data import JUDGED, ROOT, Pool, Query, Tool, lines, load_pool
from skillroute.catalogue.names import name_key, possible_names
from skillroute.core import rank_fusion
from skillroute.core.documents.index.bm25 import Bm25Encoder
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.views import VIEW_WEIGHTS
from skillroute.core.learned_fusion import FEATURES, ClauseEvidence, Evidence, FusedRequest, features, fusion_for
from skillroute.search.clauses import clauses
from skillroute.search.hybrid import CLAUSE_POOL
from skillroute.search.plan import CANDIDATE_POOL

FITTED = {"tool-requests": 3000, "metatool": 1500, "bfcl": 1500, "sealtools": 1400}
"""Sets that weights are fitted on, and how many requests of each, a third of them held out."""
CATALOGUES = ("docker-mcp-catalog", "livemcp-catalog")
LONGEST_QUERY = 1000
WEIGHTS = ROOT / "layers/common/python/skillroute/search/fusion_weights.json"

_LEFT_OUT = -2.0
"""In place of a cosine: less than any."""

Array = npt.NDArray[np.float64]
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
    words, weight, clauses, needs, held_out : [requests]
    """

    query: Array
    cosine: Array
    bm25: Array
    clause_margin: Array
    leads_clause: Array
    is_named: Array
    need: Array
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


def drawn(pool: Pool, most: int | None) -> list[Query]:
    """Return requests of a pool, `most` of them where that is given, drawn by chance, a third of them held out."""
    if most is None or len(pool.queries) <= most:
        return pool.queries
    rng = random.Random(5)
    held_out = [query for query in pool.queries if pool.is_held_out(query)]
    others = [query for query in pool.queries if not pool.is_held_out(query)]
    chosen = rng.sample(held_out, min(len(held_out), most // 3))
    return chosen + rng.sample(others, most - len(chosen))


def vectors_of(tools: Sequence[Tool], embedder: OnnxEmbedder) -> npt.NDArray[np.float32]:
    """Return the vectors of tools, as the catalogue makes them of their views."""
    vectors: npt.NDArray[np.float32] = sum(
        weight * _embedded(embedder, [tool.views[view] for tool in tools]) for view, weight in enumerate(VIEW_WEIGHTS)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def collect(pool: Pool, queries: Sequence[Query], embedder: OnnxEmbedder, left_out: LeftOut | None = None) -> Judged:
    """Return the candidates of requests: the nearest, those with the highest BM25, and those that are named.

    `left_out` gives for a request the places of tools that the pool shall lack for it.
    """
    tools = list(pool.tools.values())
    vectors = vectors_of(tools, embedder)
    of_queries = _embedded(embedder, [query.text[:LONGEST_QUERY] for query in queries])
    encoder = Bm25Encoder()
    listed: dict[int, list[tuple[int, float]]] = {}
    for place, tool in enumerate(tools):
        document = encoder.document(tool.words)
        for term, value in zip(document.indices, document.values, strict=True) if document else ():
            listed.setdefault(term, []).append((place, value))
    postings = {
        term: (np.array([p for p, _ in found]), np.array([v for _, v in found])) for term, found in listed.items()
    }
    named: dict[str, list[int]] = {}
    for place, tool in enumerate(tools):
        named.setdefault(name_key(tool.name), []).append(place)
    parts = [clauses(query.text[:LONGEST_QUERY]) for query in queries]
    distinct = list(dict.fromkeys(part for of_query in parts for part in of_query))
    vector_of = dict(zip(distinct, _embedded(embedder, distinct), strict=True))

    def bm25_of(text: str) -> tuple[Array, float]:
        terms = encoder.query(text)
        scores = np.zeros(len(tools))
        for term, weight in zip(terms.indices, terms.values, strict=True) if terms else ():
            if term in postings:
                places, values = postings[term]
                scores[places] += weight * values
        return scores, sum(terms.values) if terms else 0.0

    def of_clause(clause: str, without: list[int]) -> ClauseEvidence:
        cosines, words = vectors @ vector_of[clause], bm25_of(clause)[0]
        cosines[without], words[without] = _LEFT_OUT, 0.0
        near = [place for place in _first(cosines, CLAUSE_POOL) if cosines[place] > _LEFT_OUT]
        return ClauseEvidence.of(
            {str(place): max(0.0, float(cosines[place])) for place in near},
            {str(place): float(words[place]) for place in _first(words, CLAUSE_POOL) if words[place] > 0},
        )

    rows: list[tuple[float, ...]] = []
    weights = []
    for number, query in enumerate(queries):
        text = query.text[:LONGEST_QUERY]
        without = list(left_out(query)) if left_out else []
        cosines = vectors @ of_queries[number]
        bm25, weight = bm25_of(text)
        cosines[without], bm25[without] = _LEFT_OUT, 0.0
        weights.append(weight)
        by_name = {place for name in possible_names(text) for place in named.get(name, ())}.difference(without)
        by_words = [place for place in _first(bm25, CANDIDATE_POOL) if bm25[place] > 0]
        found = [of_clause(clause, without) for clause in parts[number]]
        by_clauses = {int(key) for clause in found for key in clause.candidates}
        near = [place for place in _first(cosines, CANDIDATE_POOL) if cosines[place] > _LEFT_OUT]
        for place in sorted({*near, *by_words, *by_name, *by_clauses}):
            need = next((n for n, ids in enumerate(query.needs) if tools[place].id in ids), -1)
            margin = max((clause.margin(str(place)) for clause in found), default=0.0)
            leads = any(str(place) in clause.first_by_words for clause in found)
            rows.append((number, cosines[place], bm25[place], margin, leads, place in by_name, need))
    table = np.array(rows, np.float64)
    return Judged(
        *table.T,
        words=np.array([len(query.text[:LONGEST_QUERY].split()) for query in queries]),
        weight=np.array(weights),
        clauses=np.array([len(of_query) for of_query in parts]),
        needs=np.array([len(query.needs) for query in queries]),
        held_out=np.array([pool.is_held_out(query) for query in queries]),
    )


_embedded_before: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
"""Vectors by model and text: of one request there are several variants, and of one catalogue several searches."""


def _embedded(embedder: OnnxEmbedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    known = _embedded_before.setdefault(embedder.model.name, {})
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        known |= zip(new, np.array(embedder.embed(new, timeout_s=3600), np.float32), strict=True)
    return np.array([known[text] for text in texts], np.float32)


def _first(scores: npt.NDArray[Any], most: int) -> list[int]:
    if len(scores) <= most:
        return list(range(len(scores)))
    return [int(place) for place in np.argpartition(-scores, most)[:most]]


@dataclass(frozen=True, slots=True)
class Part:
    """Some requests of a set, with their features."""

    judged: Judged
    features: Array
    chosen: Array


def fit(parts: Sequence[Part], *, steps: int = 400, rate: float = 0.05, decay: float = 1e-4) -> Array:
    """Return weights of the features: softmax over a request's candidates, all sets counting the same; Adam."""
    rows, right, importance, lengths = [], [], [], []
    for part in parts:
        requests = [
            (first, last)
            for (first, last), chosen in zip(part.judged.bounds(), part.chosen, strict=True)
            if chosen and (part.judged.need[first:last] >= 0).any()
        ]
        for first, last in requests:
            rows.append(part.features[first:last])
            wanted = part.judged.need[first:last] >= 0
            right.append(wanted / wanted.sum())
            importance.append(np.full(last - first, 1 / len(requests) / len(parts)))
            lengths.append(last - first)
    table = np.concatenate(rows)
    deviation = table.std(0) + 1e-9
    scaled = (table - table.mean(0)) / deviation
    target, importance_of = np.concatenate(right), np.concatenate(importance)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    weights, first_moment, second_moment = (np.zeros(scaled.shape[1]) for _ in range(3))
    for step in range(1, steps + 1):
        sums = scaled @ weights
        grown = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), lengths))
        share = grown / np.repeat(np.add.reduceat(grown, starts), lengths)
        gradient = scaled.T @ (importance_of * (share - target)) + decay * weights
        first_moment = 0.9 * first_moment + 0.1 * gradient
        second_moment = 0.999 * second_moment + 0.001 * gradient**2
        # No weight below 0: more of either signal must not make a candidate less likely, whatever a set suggests.
        weights = np.maximum(
            0.0, weights - rate * (first_moment / (1 - 0.9**step)) / (np.sqrt(second_moment / (1 - 0.999**step)) + 1e-9)
        )
    return np.asarray(weights / deviation)


def rivals(judged: Judged, sums: Array) -> Array:
    """Return of each candidate's request the log of the sum of all candidates' exponentials."""
    return np.concatenate(
        [np.full(last - first, np.logaddexp.reduce(sums[first:last])) for first, last in judged.bounds()]
    )


def calibrate(parts: Sequence[Part], weights: Array) -> tuple[float, float, float]:
    """Return slope, rivalry and intercept of the logistic curve; all requests count the same."""
    sums, right, importance = [], [], []
    for part in parts:
        rows = part.chosen[part.judged.query.astype(int)]
        own = part.features @ weights
        sums.append(np.stack([own, rivals(part.judged, own)], 1)[rows])
        right.append((part.judged.need >= 0)[rows])
        importance.append(np.full(int(rows.sum()), 1 / part.chosen.sum() / len(parts)))
    x, y, w = np.concatenate(sums), np.concatenate(right).astype(float), np.concatenate(importance)
    centre = x.mean(0)
    table = np.column_stack([x - centre, np.ones(len(x))])
    found = np.array([0.5, -0.5, float(np.log(np.average(y, weights=w)))])

    def loss(candidate: Array) -> float:
        return float((w * (np.logaddexp(0, table @ candidate) - y * (table @ candidate))).sum())

    for _ in range(50):  # Newton, each step shortened until it helps
        p = 1 / (1 + np.exp(-np.clip(table @ found, -50, 50)))
        step = np.linalg.solve(table.T @ (table * (w * p * (1 - p))[:, None]), table.T @ (w * (p - y)))
        while loss(found - step) > loss(found) and np.abs(step).max() > 1e-9:
            step = step / 2
        found = found - step
    return float(found[0]), float(found[1]), float(found[2] - found[:2] @ centre)


def named_first(judged: Judged, scores: Array) -> Array:
    """Return scores with those of tools that the request names above all others, as the search has them."""
    return np.where(judged.is_named > 0, scores + 1e6, scores)


def measured(judged: Judged, scores: Array, chosen: Iterable[bool]) -> tuple[float, float, float]:
    """Return recall@1, recall@5 and the share of requests whose needs are all among the first five."""
    recall_1, recall_5 = [], []
    for number, ((first, last), wanted) in enumerate(zip(judged.bounds(), chosen, strict=True)):
        if wanted:
            order = np.argsort(-scores[first:last], kind="stable")
            needs = judged.need[first:last][order]
            recall_1.append(len({need for need in needs[:1] if need >= 0}) / judged.needs[number])
            recall_5.append(len({need for need in needs[:5] if need >= 0}) / judged.needs[number])
    return float(np.mean(recall_1)), float(np.mean(recall_5)), float(np.mean(np.array(recall_5) == 1.0))


def reliability(
    parts: Sequence[Part], weights: Array, curve: tuple[float, float, float]
) -> list[tuple[float, float, int]]:
    """Return for ten ranges of the first tool's probability its mean, the share that is right, and the count."""
    said, was = [], []
    for part in parts:
        sums = part.features @ weights
        others = rivals(part.judged, sums)
        for (first, last), chosen in zip(part.judged.bounds(), part.chosen, strict=True):
            if chosen:
                best = first + int(np.argmax(named_first(part.judged, sums)[first:last]))
                highest = sums[first:last].max()  # what is named gets the highest probability of all
                said.append(1 / (1 + np.exp(-(curve[0] * highest + curve[1] * others[best] + curve[2]))))
                was.append(part.judged.need[best] >= 0)
    place = np.minimum((np.array(said) * 10).astype(int), 9)
    return [
        (float(np.array(said)[place == p].mean()), float(np.array(was)[place == p].mean()), int((place == p).sum()))
        for p in range(10)
        if (place == p).any()
    ]


def rrf(judged: Judged) -> Array:
    """Return reciprocal rank fusion of both rankings, to compare with."""
    fused = np.zeros(len(judged.query))
    for first, last in judged.bounds():
        ranks = []
        for signal in (judged.cosine[first:last], judged.bm25[first:last]):
            places = np.argsort(np.argsort(-signal, kind="stable"), kind="stable") + 1
            ranks.append([int(place) if value > 0 else None for place, value in zip(places, signal, strict=True)])
        fused[first:last] = [rank_fusion.rrf(*both) for both in zip(*ranks, strict=True)]
    return fused


def report_refusals(embedder: OnnxEmbedder) -> None:
    """Print how many requests that nothing serves a bound refuses, by how many of the answered ones it loses."""
    both = Pool("both catalogues")
    for pool in map(load_pool, CATALOGUES):
        both.tools |= pool.tools
        both.queries += pool.queries
    nothing = [Query(line["query"], line["kind"], ()) for line in lines(JUDGED / "nothing_fits.jsonl")]
    judged = collect(both, [*both.queries, *nothing], embedder)
    fusion = fusion_for("skillroute.search", embedder.model.name)
    highest: dict[str, list[float]] = {"probability": [], "cosine": []}
    answered = []
    for number, (first, last) in enumerate(judged.bounds()):
        chances = np.array(fusion.probabilities(judged.request(number), judged.evidence(first, last)))
        highest["probability"].append(float(chances.max()))
        highest["cosine"].append(float(judged.cosine[first:last].max()))
        answered.append(bool((judged.need[first:last][np.argsort(-chances)[:5]] >= 0).any()))
    kinds = np.array([query.kind for query in nothing])
    print("| bound on the highest | lost | at | refused | near misses | far |\n|---|---|---|---|---|---|")
    for name, values in highest.items():
        served, unserved = np.array(values[: len(both.queries)]), np.array(values[len(both.queries) :])
        for lost in (0.01, 0.05, 0.1):
            bound = np.quantile(served[np.array(answered[: len(served)])], lost)
            shares = [unserved < bound, *((unserved < bound)[kinds == kind] for kind in ("near", "far"))]
            print(f"| {name} | {lost:.2f} | {bound:.2f} | " + " | ".join(f"{s.mean():.2f}" for s in shares) + " |")


def report(label: str, sets: Mapping[str, Part], score: Callable[[Part], Array]) -> None:
    """Print recall@1 / recall@5 / comp@5 of each set's held-out requests, and of all of a catalogue's."""
    cells = []
    for name, part in sets.items():
        wanted = part.judged.held_out if name in FITTED else np.ones(len(part.judged.needs), bool)
        cells.append(" / ".join(f"{value:.3f}" for value in measured(part.judged, score(part), wanted)))
    print(f"| {label} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="all-minilm-l6-v2", help="a packaged model")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / ".bench" / "fusion",
        help="where evidence is kept; remove it when texts, BM25 or requests have changed",
    )
    parser.add_argument("--rotate", action="store_true", help="leave each set out in turn; writes nothing")
    parser.add_argument(
        "--refusals", action="store_true", help="measure instead how well what nothing serves is told apart"
    )
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    folder = ROOT / "layers/inference/models" / arguments.model
    embedder = OnnxEmbedder(folder)
    if arguments.refusals:
        report_refusals(embedder)
        return
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    cache = arguments.cache / f"{described['name']}-{described['sha256'][:12]}"
    sets: dict[str, Part] = {}
    for name in (*FITTED, *CATALOGUES):
        file = cache / f"{name}.npz"
        if not file.exists():
            print(f"collecting {name}", file=sys.stderr)
            pool = load_pool(name)
            judged = collect(pool, drawn(pool, FITTED.get(name)), embedder)
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(file, **{field: getattr(judged, field) for field in Judged.__slots__})
        judged = Judged(**np.load(file))
        chosen = ~judged.held_out if name in FITTED else np.ones(len(judged.needs), bool)
        sets[name] = Part(judged, judged.features(), chosen)
    fitted = {name: sets[name] for name in FITTED}
    print("| recall@1 / recall@5 / comp@5 | " + " | ".join(sets) + " |")
    report("cosine", sets, lambda part: part.judged.cosine)
    report("BM25", sets, lambda part: part.judged.bm25)
    report("RRF", sets, lambda part: rrf(part.judged))
    if arguments.rotate:
        for name in fitted:
            weights = fit([part for other, part in fitted.items() if other != name])
            report(f"without {name}", sets, lambda part, w=weights: part.features @ w)  # type: ignore[misc]
        return
    weights = fit(list(fitted.values()))
    report("learned", sets, lambda part: part.features @ weights)
    report("learned, named first", sets, lambda part: named_first(part.judged, part.features @ weights))
    curve = calibrate(list(fitted.values()), weights)
    print("\nprobability of the first, share that is right, requests:")
    everything = [Part(p.judged, p.features, p.judged.held_out if n in FITTED else p.chosen) for n, p in sets.items()]
    for probability, share, count in reliability(everything, weights, curve):
        print(f"  {probability:.2f}  {share:.2f}  {count}")
    made = {
        "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
        **{name: round(value, 4) for name, value in zip(("slope", "rivalry", "intercept"), curve, strict=True)},
    }
    print(json.dumps(made, indent=2))
    if arguments.write:
        stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        stored["models"][embedder.model.name] = made
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
