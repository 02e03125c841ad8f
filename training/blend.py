"""Fit how a reranker and the first stage are blended, report what that finds, and write the weights.

    .venv/bin/python training/first_stage.py
    .venv/bin/python training/blend.py --reranker .training/reranker-int8 --write    # needs no torch

Fitted on the held-out part of each judged set, which encoder, fusion and reranker have not seen, with the
int8 model as the program runs it: the weights by the cross entropy of a request's right tools among the first 20, every
set counting the same, and a logistic curve on top. Measured in two halves, each by the weights of the other, and on
both catalogues' requests, which nothing is fitted on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from candidates import CACHE, MAX_PER_TOOL, Candidates, first_logits, load_candidates
from data import CATALOGUES, ROOT, load_pool
from evidence import Array
from skillroute.catalogue.text import rerank_text
from skillroute.core.reranking.onnx import OnnxReranker

WEIGHTS = ROOT / "layers/common/python/skillroute/core/reranking/blend_weights.json"
MAX_COUNT = 1000
"""Held-out requests of a set."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request's first candidates, the best first.

    Attributes
    ----------
    first, reranker : float [candidates]
        The logits of the first stage's probability, and of the reranker.
    need : int [candidates]
        The need that each serves, -1 for none.
    needs, half : int
        How many it has, and which half of its set it is of.
    """

    first: Array
    reranker: Array
    need: Array
    needs: int
    half: int

    def sums(self, weights: Array) -> Array:
        """Return the weighted sums, float [candidates]."""
        return np.asarray(weights[0] * self.first + weights[1] * self.reranker)


def logits_of(name: str, asked: Sequence[Candidates], reranker: OnnxReranker) -> list[list[float]]:
    """Return what the reranker says of each request's candidates; kept in a file for each model and pool."""
    digest = hashlib.sha256(json.dumps([[one.text, [found.id for found in one.found]] for one in asked]).encode())
    file = CACHE / f"{reranker.name.replace('/', '-')}-{name}-{digest.hexdigest()[:12]}.json"
    if file.exists():
        stored: list[list[float]] = json.loads(file.read_text(encoding="utf-8"))
        return stored
    tools = load_pool(name).tools
    texts = {id_: rerank_text(tool.name, tool.description, tool.server or None) for id_, tool in tools.items()}
    began = time.process_time()
    made = [reranker.logits(one.text, [texts[found.id] for found in one.found], timeout_s=60) for one in asked]
    spent = (time.process_time() - began) / max(1, len(asked)) * 1000
    print(f"{name}: {len(asked)} requests, {spent:.1f} ms of one core each")
    file.write_text(json.dumps(made), encoding="utf-8")
    return made


def requests_of(name: str, reranker: OnnxReranker) -> list[Request]:
    """Return the requests of a set that are held out, or all of a catalogue, that have candidates."""
    asked = [one for one in load_candidates(name) if one.is_held_out or name in CATALOGUES]
    asked = sorted(asked, key=lambda one: hashlib.sha256(one.text.encode()).digest())[:MAX_COUNT]
    made = []
    for one, logits in zip(asked, logits_of(name, asked, reranker), strict=True):
        need = np.array([found.need for found in one.found])
        half = hashlib.sha256(one.text.encode()).digest()[5] % 2
        made.append(Request(first_logits(one), np.array(logits), need, len(one.needs), half))
    return made


def fit(sets: Iterable[Sequence[Request]], *, steps: int = 300, rate: float = 0.05) -> Array:
    """Return both weights, 0 or more: softmax over a request's candidates, all sets counting the same; Adam."""
    weights, first_moment, second_moment = np.array([1.0, 0.5]), np.zeros(2), np.zeros(2)
    answerable = [[one for one in part if (one.need >= 0).any()] for part in sets]
    for step in range(1, steps + 1):
        gradient = np.zeros(2)
        for part in answerable:
            for one in part:
                sums = one.sums(weights)
                share = np.exp(sums - sums.max())
                share /= share.sum()
                right = one.need >= 0
                wrong = (share - right / right.sum()) / len(part)
                gradient += [wrong @ one.first, wrong @ one.reranker]
        first_moment = 0.9 * first_moment + 0.1 * gradient
        second_moment = 0.999 * second_moment + 0.001 * gradient**2
        moved = rate * (first_moment / (1 - 0.9**step)) / (np.sqrt(second_moment / (1 - 0.999**step)) + 1e-9)
        weights = np.maximum(0.0, weights - moved)
    return weights


def calibrate(sets: Sequence[Sequence[Request]], weights: Array) -> Array:
    """Return slope, rivalry and intercept by Newton's method; all sets count the same."""
    rows, right, importance = [], [], []
    for part in sets:
        for one in part:
            sums = one.sums(weights)
            rows.append(np.column_stack([sums, np.full(len(sums), np.logaddexp.reduce(sums)), np.ones(len(sums))]))
            right.append(one.need >= 0)
            importance.append(np.full(len(sums), 1 / len(part) / len(sets)))
    x, y, w = np.concatenate(rows), np.concatenate(right).astype(float), np.concatenate(importance)
    found = np.array([0.5, 0.0, -3.0])

    def loss(candidate: Array) -> float:
        return float((w * (np.logaddexp(0, x @ candidate) - y * (x @ candidate))).sum())

    for _ in range(60):  # each step shortened until it helps
        p = 1 / (1 + np.exp(-np.clip(x @ found, -50, 50)))
        step = np.linalg.solve(x.T @ (x * (w * p * (1 - p))[:, None]) + 1e-9 * np.eye(3), x.T @ (w * (p - y)))
        while loss(found - step) > loss(found) and np.abs(step).max() > 1e-9:
            step = step / 2
        found = found - step
    return found


def measured(requests: Sequence[Request], weights: Array) -> tuple[float, float, float]:
    """Return recall@1, recall@5 and nDCG@5 of requests, ordered by the weighted sums."""
    found = []
    for one in requests:
        needs = one.need[np.argsort(-one.sums(weights), kind="stable")][:5].tolist()
        new = [need >= 0 and need not in needs[:place] for place, need in enumerate(needs)]
        gain = sum(is_new / math.log2(place + 2) for place, is_new in enumerate(new))
        most = sum(1 / math.log2(place + 2) for place in range(min(5, one.needs)))
        found.append((sum(new[:1]) / one.needs, sum(new) / one.needs, gain / most))
    recall_1, recall_5, ndcg = np.mean(found, axis=0).tolist()
    return recall_1, recall_5, ndcg


def report(label: str, sets: Mapping[str, Sequence[Request]], weights: Mapping[str, Sequence[Array]]) -> None:
    """Print what weights find of each set; of two, each measures the half that it was not fitted on."""
    cells = []
    for name, part in sets.items():
        own = weights[name]
        if len(own) == 1:
            figures = measured(part, own[0])
        else:
            halves = [[one for one in part if one.half == half] for half in (0, 1)]
            parts = [measured(half, own[1 - number]) for number, half in enumerate(halves)]
            sizes = [len(half) / len(part) for half in halves]
            figures = tuple(a * sizes[0] + b * sizes[1] for a, b in zip(*parts, strict=True))
        cells.append(" / ".join(f"{value:.3f}" for value in figures))
    print(f"| {label} | " + " | ".join(cells) + " |")


def reliability(sets: Mapping[str, Sequence[Request]], weights: Array, curve: Array) -> None:
    """Print for ten ranges of the first tool's probability its mean, the share that is right, and the count."""
    chances, right = [], []
    for name in CATALOGUES:
        for one in sets[name]:
            sums = one.sums(weights)
            best = int(np.argmax(sums))
            chances.append(1 / (1 + np.exp(-(curve @ [sums[best], np.logaddexp.reduce(sums), 1.0]))))
            right.append(one.need[best] >= 0)
    chance, is_right = np.array(chances), np.array(right)
    print("\nboth catalogues: probability of the first, share that is right, requests:")
    for tenth in range(10):
        inside = np.minimum((chance * 10).astype(int), 9) == tenth
        if inside.any():
            print(f"  {chance[inside].mean():.2f}  {is_right[inside].mean():.2f}  {inside.sum()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reranker", type=Path, required=True, help="a folder that build_reranker.py wrote")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    reranker = OnnxReranker(arguments.reranker)
    sets = {name: requests_of(name, reranker) for name in (*MAX_PER_TOOL, *CATALOGUES)}
    fitted_on = [sets[name] for name in MAX_PER_TOOL]
    weights = fit(fitted_on)
    curve = calibrate(fitted_on, weights)
    halves = [fit([one for one in part if one.half == half] for part in fitted_on) for half in (0, 1)]
    print(
        "| recall@1 / recall@5 / nDCG@5 | " + " | ".join(f"{name} ({len(part)})" for name, part in sets.items()) + " |"
    )
    report("first stage", sets, {name: [np.array([1.0, 0.0])] for name in sets})
    report("reranker alone", sets, {name: [np.array([0.0, 1.0])] for name in sets})
    report("blended", sets, {name: [weights] if name in CATALOGUES else halves for name in sets})
    print("weights", weights.round(3), "of the halves", [half.round(3).tolist() for half in halves])
    reliability(sets, weights, curve)
    names = ("first", "reranker", "slope", "rivalry", "intercept")
    made: dict[str, Any] = dict(zip(names, [round(float(v), 4) for v in (*weights, *curve)], strict=True))
    print(json.dumps(made))
    if arguments.write:
        stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        stored["tools"][reranker.name] = made
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
