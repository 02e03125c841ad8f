"""Fit the weights of learned fusion for an embedding model, report what they find, and write them.

    .venv/bin/python training/fusion.py --model all-minilm-l6-v2            # needs no torch

Evidence is collected once for each model and judged set (--cache), with the program's own embedder, BM25 and texts; the
features are those that the search computes. Weights are fitted on requests that the encoder's training may see, by the
cross entropy of a request's right tools among its candidates, every set counting the same; a logistic curve on top
makes probabilities of them. Reported are the requests that neither saw: of the held-out part of each set, and of both
catalogues, alone and among the tools of real MCP servers with their ordinary names (`among.py`). `--among` fits on the
sets among those tools as well, which finds no more (docs/adr/0064). `--rotate` leaves each set out in turn instead.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from among import among_crowd, crowd
from data import CATALOGUES, ROOT, Pool, Query, load_catalogues, load_pool, load_unserved
from evidence import VECTORS, Array, Collected, Judged, collect, keep, remember
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.ranking import rank_fusion
from skillroute.core.ranking.learned_fusion import FEATURES, fusion_for

FITTED = {"tool-requests": 3000, "metatool": 1500, "bfcl": 1500, "sealtools": 1400}
"""Sets that weights are fitted on, and how many requests of each, a third of them held out."""
AMONG = 300
"""Requests of each set among the tools of real servers: so many that are held out, and so many others."""
AMONG_THEM = " among others"
WEIGHTS = ROOT / "layers/common/python/skillroute/search/ranking/fusion_weights.json"
_GAINS = 1 / np.log2(np.arange(2, 7))


def drawn(pool: Pool, most: int | None) -> list[Query]:
    """Return requests of a pool, `most` of them where that is given, drawn by chance, a third of them held out."""
    if most is None or len(pool.queries) <= most:
        return pool.queries
    rng = random.Random(5)
    held_out = [query for query in pool.queries if pool.is_held_out(query)]
    others = [query for query in pool.queries if not pool.is_held_out(query)]
    chosen = rng.sample(held_out, min(len(held_out), most // 3))
    return chosen + rng.sample(others, most - len(chosen))


def few(pool: Pool, queries: Sequence[Query]) -> list[Query]:
    """Return `AMONG` of the requests that are held out, and as many others."""
    rng = random.Random(11)
    halves = ([query for query in queries if pool.is_held_out(query) is held_out] for held_out in (True, False))
    return [query for half in halves for query in rng.sample(half, min(AMONG, len(half)))]


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


def measured(judged: Judged, scores: Array, chosen: Iterable[bool]) -> tuple[float, float, float, float]:
    """Return recall@1, recall@5, nDCG@5 and the share of requests whose needs are all among the first five."""
    recall_1, recall_5, ndcg = [], [], []
    for number, ((first, last), wanted) in enumerate(zip(judged.bounds(), chosen, strict=True)):
        if wanted:
            order = np.argsort(-scores[first:last], kind="stable")[:5]
            met = judged.need[first:last][order].tolist()
            new = [need >= 0 and need not in met[:rank] for rank, need in enumerate(met)]
            count = int(judged.needs[number])
            recall_1.append(sum(new[:1]) / count)
            recall_5.append(sum(new) / count)
            ndcg.append(sum(_GAINS[: len(new)][new]) / sum(_GAINS[:count]))
    return (
        float(np.mean(recall_1)),
        float(np.mean(recall_5)),
        float(np.mean(ndcg)),
        float(np.mean(np.equal(recall_5, 1))),
    )


def reliability(
    parts: Sequence[Part], weights: Array, curve: tuple[float, float, float]
) -> list[tuple[float, float, int]]:
    """Return for ten ranges of the first tool's probability its mean, the share that is right, and the count."""
    chances, are_right = [], []
    for part in parts:
        sums = part.features @ weights
        others = rivals(part.judged, sums)
        for (first, last), chosen in zip(part.judged.bounds(), part.chosen, strict=True):
            if chosen:
                best = first + int(np.argmax(named_first(part.judged, sums)[first:last]))
                chances.append(1 / (1 + np.exp(-(curve[0] * sums[best] + curve[1] * others[best] + curve[2]))))
                are_right.append(part.judged.need[best] >= 0)
    chance, right = np.array(chances), np.array(are_right)
    tenth = np.minimum((chance * 10).astype(int), 9)
    inside = [tenth == number for number in range(10)]
    return [(float(chance[rows].mean()), float(right[rows].mean()), int(rows.sum())) for rows in inside if rows.any()]


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
    both, nothing = load_catalogues(), load_unserved()
    judged = collect(both, [*both.queries, *nothing], embedder)
    fusion = fusion_for("skillroute.search.ranking", embedder.model.name)
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


def is_fitted(name: str) -> bool:
    """Return whether a part is of a set that weights are fitted on."""
    return name.removesuffix(AMONG_THEM) in FITTED


def report(label: str, sets: Mapping[str, Part], score: Callable[[Part], Array]) -> None:
    """Print recall@1 / recall@5 / nDCG@5 / comp@5 of each set's held-out requests, and of all of a catalogue's."""
    cells = []
    for name, part in sets.items():
        wanted = part.judged.held_out if is_fitted(name) else np.ones(len(part.judged.needs), bool)
        cells.append(" / ".join(f"{value:.3f}" for value in measured(part.judged, score(part), wanted)))
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def parts_of(collected: Collected) -> dict[str, Part]:
    """Return sets and catalogues by name, alone and among others; chosen is what is not held out of a set."""
    embedder, parts = collected.embedder, {}

    def add(name: str, pool: Pool | Callable[[], Pool], queries: Sequence[Query]) -> None:
        judged = collected(name, pool, queries)
        chosen = ~judged.held_out if is_fitted(name) else np.ones(len(judged.needs), bool)
        parts[name] = Part(judged, judged.features(), chosen)

    others = crowd()
    for name in (*FITTED, *CATALOGUES):
        pool = load_pool(name)
        queries = drawn(pool, FITTED.get(name))
        add(name, pool, queries)
        some = few(pool, queries)
        add(name + AMONG_THEM, partial(among_crowd, pool, some, others, embedder), some)
    return parts


def fitted_on(parts: Mapping[str, Part], *, among: bool) -> dict[str, Part]:
    """Return the parts that weights are fitted on: the sets alone, and among others where that is asked for."""
    return {name: part for name, part in parts.items() if name in FITTED or (among and is_fitted(name))}


def rotate(parts: Mapping[str, Part], *, among: bool) -> None:
    """Print for each set what the weights find in all of them that were fitted without it."""
    for left_out in FITTED:
        on = fitted_on(parts, among=among).items()
        weights = fit([part for name, part in on if not name.startswith(left_out)])
        report(f"without {left_out}", parts, lambda part, w=weights: part.features @ w)  # type: ignore[misc]


def fitted(parts: Mapping[str, Part], *, among: bool) -> dict[str, Any]:
    """Fit weights and curve, print what they find and how well they are calibrated, and return them to be stored."""
    on = list(fitted_on(parts, among=among).values())
    weights = fit(on)
    report("learned", parts, lambda part: part.features @ weights)
    report("learned, named first", parts, lambda part: named_first(part.judged, part.features @ weights))
    curve = calibrate(on, weights)
    unseen = {name: replace(p, chosen=p.judged.held_out) if is_fitted(name) else p for name, p in parts.items()}
    for label, wanted in (("alone", False), ("among others", True)):
        print(f"\n{label}: probability of the first, share that is right, requests:")
        some = [part for name, part in unseen.items() if name.endswith(AMONG_THEM) is wanted]
        for probability, share, count in reliability(some, weights, curve):
            print(f"  {probability:.2f}  {share:.2f}  {count}")
    return {
        "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
        **{name: round(value, 4) for name, value in zip(("slope", "rivalry", "intercept"), curve, strict=True)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / ".bench" / "fusion",
        help="where evidence is kept; remove it when texts, BM25 or requests have changed",
    )
    parser.add_argument("--among", action="store_true", help="fit on the sets among the tools of real servers as well")
    parser.add_argument("--rotate", action="store_true", help="leave each set out in turn; writes nothing")
    parser.add_argument(
        "--refusals", action="store_true", help="measure instead how well what nothing serves is told apart"
    )
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    collected = Collected.of(arguments.model, arguments.cache)
    if arguments.refusals:
        report_refusals(collected.embedder)
        return
    file = VECTORS / f"{collected.embedder.model.name}.npz"
    remember(collected.embedder, file)
    parts = parts_of(collected)
    keep(collected.embedder, file)
    print("| recall@1 / recall@5 / nDCG@5 / comp@5 | " + " | ".join(parts) + " |")
    report("cosine", parts, lambda part: part.judged.cosine)
    report("BM25", parts, lambda part: part.judged.bm25)
    report("RRF", parts, lambda part: rrf(part.judged))
    stored = fusion_for("skillroute.search.ranking", collected.embedder.model.name).weights
    report("as stored", parts, lambda part: part.features @ np.array(stored))
    if arguments.rotate:
        rotate(parts, among=arguments.among)
        return
    made = fitted(parts, among=arguments.among)
    print(json.dumps(made, indent=2))
    if arguments.write:
        stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        stored["models"][collected.embedder.model.name] = made
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
