"""Fit how likely the first result of mode hybrid serves the request, and measure what a bound on it refuses.

    .venv/bin/python training/confidence.py --model all-minilm-l6-v2        # needs no torch

Fitted on the held-out part of each judged set, which neither encoder nor fusion has seen: its requests as they are, and
again without the tools that serve them (near misses: their neighbours stay), and without these tools' whole server or
field. No request for the two catalogues takes part: these, and the requests that no tool of them serves, measure it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from data import ROOT, Pool, Query, load_catalogues, load_pool, load_unserved
from evidence import Array, Collected, Judged, LeftOut, vectors_of
from fusion import FITTED, drawn
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.learned_fusion import fusion_for
from skillroute.search.confidence import FEATURES, FIRST_RESULTS, Standing, features

WEIGHTS = ROOT / "layers/common/python/skillroute/search/confidence_weights.json"
UNSERVED = 0.2
"""The share of requests that nothing serves, as the probability takes it; half of them near misses."""
ALIKE = 0.85
"""The cosine of two tools from which one may serve what the other serves."""
OF_SET, FOREIGN = 400, 120
"""Requests of each set that are fitted on, and those of them that are sent to the catalogues."""
LOST = 0.01
"""The share of answered requests that may be refused."""
SERVED = "both catalogues"


@dataclass(frozen=True, slots=True)
class Sample:
    """Some requests: their features, whether the first result is right, and whether one of the first five is.

    Attributes
    ----------
    features : float [requests, features]
    first, five : bool [requests]
    """

    features: Array
    first: Array
    five: Array


Target = Callable[[Sample], Array]


def first(sample: Sample) -> Array:
    """Return whether the first result is right."""
    return sample.first


def five(sample: Sample) -> Array:
    """Return whether one of the first five results is right."""
    return sample.five


TARGETS: Mapping[str, Target] = {"first": first, "first_five": five}
"""What each curve is the probability of."""


def without_right(pool: Pool, embedder: OnnxEmbedder, *, groups: bool) -> LeftOut:
    """Return what leaves out the tools that serve a request, those like them, and with `groups` all beside them."""
    tools = list(pool.tools.values())
    place = {tool.id: number for number, tool in enumerate(tools)}
    of_group: dict[str, list[int]] = {}
    for number, tool in enumerate(tools):
        of_group.setdefault(tool.group, []).append(number)

    @cache
    def vectors() -> Array:  # not needed where the evidence is kept
        return vectors_of(tools, embedder).astype(np.float64)

    def left_out(query: Query) -> set[int]:
        right = [place[id_] for id_ in query.relevant]
        alike = np.flatnonzero((vectors() @ vectors()[right].T).max(axis=1) > ALIKE).tolist()
        beside = [number for one in right for number in of_group[tools[one].group]] if groups else []
        return {*right, *alike, *beside}

    return left_out


def sample_of(judged: Judged, model: str) -> Sample:
    """Return what the search would know of each request; the first result is a tool that is named, if there is one."""
    fusion = fusion_for("skillroute.search", model)
    rows, of_first, of_five = [], [], []
    for number, (start, end) in enumerate(judged.bounds()):
        request = judged.request(number)
        chances = np.array(fusion.probabilities(request, judged.evidence(start, end)))
        order = np.argsort(-chances - judged.is_named[start:end], kind="stable")
        right = judged.need[start:end][order] >= 0
        # What is named exactly gets the highest probability of all.
        highest = max(0.0, float(judged.cosine[start:end].max(initial=0.0)))
        rows.append(features(Standing(float(chances.max(initial=0.0)), highest, request.words)))
        of_first.append(bool(right[:1].any()))
        of_five.append(bool(right[:FIRST_RESULTS].any()))
    return Sample(np.array(rows), np.array(of_first), np.array(of_five))


def fit(served: Sequence[Sample], unserved: Sequence[Sample], target: Target) -> Array:
    """Return weights and intercept by Newton's method; all sets count the same, the unserved as `UNSERVED` says.

    No weight of likelihood and cosine is negative: more of either must not make a result less likely.
    """
    shares = [(one, (1 - UNSERVED) / len(served)) for one in served]
    shares += [(one, UNSERVED / len(unserved)) for one in unserved]
    table = np.concatenate([np.column_stack([one.features, np.ones(len(one.first))]) for one, _ in shares])
    right = np.concatenate([target(one) for one, _ in shares]).astype(float)
    weight = np.concatenate([np.full(len(one.first), share / len(one.first)) for one, share in shares])
    found = np.zeros(table.shape[1])
    free = np.ones(len(found), bool)
    while True:
        for _ in range(30):
            chance = 1 / (1 + np.exp(-np.clip(table @ found, -30, 30)))
            slope = table[:, free].T @ (weight * (chance - right)) + 1e-6 * found[free]
            spread = table[:, free] * (weight * chance * (1 - chance))[:, None]
            found[free] -= np.linalg.solve(table[:, free].T @ spread + 1e-6 * np.eye(free.sum()), slope)
        negative = (found < 0) & np.isin((*FEATURES, ""), ("likelihood", "cosine"))
        if not negative.any():
            return found
        free &= ~negative
        found = np.zeros(len(found))


def chances_of(sample: Sample, weights: Array) -> Array:
    """Return the confidence in each request's first result."""
    return np.asarray(1 / (1 + np.exp(-(sample.features @ weights[:-1] + weights[-1]))))


def above(served: Array, unserved: Array) -> float:
    """Return how often a request that is served has the higher confidence of two (the area under the curve)."""
    return float((served[:, None] > unserved[None]).mean() + (served[:, None] == unserved[None]).mean() / 2)


def reliability(samples: Sequence[Sample], weights: Array, target: Target) -> None:
    """Print by ranges of the confidence its mean, the share that is right, and the count."""
    chance = np.concatenate([chances_of(sample, weights) for sample in samples])
    right = np.concatenate([target(sample) for sample in samples])
    print("\n| confidence | right | requests |\n|---|---|---|")
    for place in range(10):
        inside = np.minimum((chance * 10).astype(int), 9) == place
        if inside.any():
            print(f"| {chance[inside].mean():.2f} | {right[inside].mean():.2f} | {inside.sum()} |")


def refusals(samples: Mapping[str, Sample], weights: Array, bound: float) -> None:
    """Print what bounds refuse of requests that nothing serves, by how many of the answered ones they lose."""
    served = chances_of(samples[SERVED], weights)
    answered = served[samples[SERVED].five]
    unserved = {name: chances_of(one, weights) for name, one in samples.items() if name != SERVED}
    unserved = {"near and far": np.concatenate([unserved["near"], unserved["far"]]), **unserved}
    print("\n| at | lost | of all with a tool | " + " | ".join(unserved) + " |")
    print("|---" * (len(unserved) + 3) + "|")
    for at in (bound, *(float(np.quantile(answered, lost, method="lower")) for lost in (LOST, 0.02, 0.05, 0.1))):
        shares = [float((chances < at).mean()) for chances in (answered, served, *unserved.values())]
        print(f"| {at:.3f} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    print("| above |  |  | " + " | ".join(f"{above(answered, chances):.3f}" for chances in unserved.values()) + " |")


def rotated(served: Mapping[str, Sample], unserved: Mapping[str, Sequence[Sample]]) -> None:
    """Print for each set what the curve makes of it that was fitted on the others."""
    print("\n| left out | served above near | above others | refused at 0.01 lost | mean confidence | right |")
    print("|---" * 6 + "|")
    for name, one in served.items():
        others = [other for other in served if other != name]
        lacking_others = [sample for other in others for sample in unserved[other]]
        weights = fit([served[other] for other in others], lacking_others, five)
        answered = chances_of(one, weights)[one.five]
        lacking = [chances_of(sample, weights) for sample in unserved[name]]
        cells = [*(above(answered, chances) for chances in lacking)]
        cells += [(np.concatenate(lacking) < np.quantile(answered, LOST, method="lower")).mean()]
        cells += [chances_of(one, weights).mean(), one.five.mean()]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


@dataclass(frozen=True, slots=True)
class Samples:
    """What is fitted on, by set, and what measures it.

    Attributes
    ----------
    served : mapping
        Of each set, its requests as they are.
    unserved : mapping
        Of each set, its requests without the tools that serve them, and without these tools' groups.
    measured : mapping
        Among both catalogues: the requests for them (`SERVED`), those that nothing serves (near, far), and of each
        set some that are foreign there.
    """

    served: Mapping[str, Sample]
    unserved: Mapping[str, Sequence[Sample]]
    measured: Mapping[str, Sample]


def samples_of(collected: Collected) -> Samples:
    """Return all samples; a minute for each that is not kept yet."""

    def sample(name: str, pool: Pool, queries: Sequence[Query], left_out: LeftOut | None = None) -> Sample:
        return sample_of(collected(name, pool, queries, left_out), collected.embedder.model.name)

    both, nothing = load_catalogues(), load_unserved()
    measured = {SERVED: sample(SERVED, both, both.queries)}
    for kind in ("near", "far"):
        measured[kind] = sample(kind, both, [query for query in nothing if query.kind == kind])
    served: dict[str, Sample] = {}
    unserved: dict[str, list[Sample]] = {}
    for name, most in FITTED.items():
        pool = load_pool(name)
        queries = [query for query in drawn(pool, most) if pool.is_held_out(query)][:OF_SET]
        foreign = [Query(query.text, "foreign", ()) for query in queries[:FOREIGN]]
        measured[name] = sample(f"foreign-{name}", both, foreign)
        served[name] = sample(name, pool, queries)
        unserved[name] = [
            sample(f"{name}-{label}", pool, queries, without_right(pool, collected.embedder, groups=groups))
            for label, groups in (("without-tools", False), ("without-groups", True))
        ]
    return Samples(served, unserved, measured)


def bound_of(samples: Samples, weights: Array) -> float:
    """Print and return the bound that loses no more than `LOST` of any set, nor of the catalogues: cut, not rounded."""
    answered = {
        name: chances_of(sample, weights)[sample.five]
        for name, sample in {**samples.served, SERVED: samples.measured[SERVED]}.items()
    }
    bounds = {name: float(np.quantile(chances, LOST, method="lower")) for name, chances in answered.items()}
    print(f"\n{LOST} of the answered requests are below: " + ", ".join(f"{n} {b:.3f}" for n, b in bounds.items()))
    return math.floor(min(bounds.values()) * 1000) / 1000


def fitted(samples: Samples) -> dict[str, Any]:
    """Fit both curves and the bound, print what they make of what is measured, and return them to be stored."""
    lacking = [sample for of_set in samples.unserved.values() for sample in of_set]
    curves = {label: fit(list(samples.served.values()), lacking, target) for label, target in TARGETS.items()}
    bound = bound_of(samples, curves["first_five"])
    own = [samples.measured[name] for name in (SERVED, "near", "far")]
    for label, target in TARGETS.items():
        print(f"\n{label}")
        refusals(samples.measured, curves[label], bound)
        reliability(own, curves[label], target)
    names = (*FEATURES, "intercept")
    made = {label: dict(zip(names, weights.round(4).tolist(), strict=True)) for label, weights in curves.items()}
    return {**made, "no_match_below": bound}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench" / "confidence", help="where evidence is kept")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    collected = Collected.of(arguments.model, arguments.cache)
    samples = samples_of(collected)
    rotated(samples.served, samples.unserved)
    made = fitted(samples)
    print(json.dumps(made, indent=2))
    if arguments.write:
        stored = json.loads(WEIGHTS.read_text(encoding="utf-8")) if WEIGHTS.exists() else {"models": {}}
        stored["models"][collected.embedder.model.name] = made
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
