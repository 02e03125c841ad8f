"""Fit how likely the first result of mode hybrid serves the request, and measure what a bound on it refuses.

    .venv/bin/python training/confidence.py --model all-minilm-l6-v2        # needs no torch

Fitted on small catalogues: three halves of the servers of `tool-requests` that neither encoder nor fusion has seen, 318
to 476 tools: the requests for them as they are; again without the tools that serve them (near misses: their neighbours
stay); and the requests for the held-out servers that a half lacks, unless it has a tool like theirs. Whether anything
fits is learned as well from 1,500 requests for all held-out servers, as they are and without what the recipe of
`unservable.py` takes away. A catalogue as
large as all of `tool-requests` has so many tools that do the same that what is judged wrong is often right, and the
curves say too little elsewhere. No request for the two catalogues takes part: these, the requests that no tool of them
serves, and the held-out requests of the other judged sets measure it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from confidence_samples import HELD_OUT, SERVED, Sample, Samples, samples_of
from data import ROOT
from evidence import Array, Collected
from skillroute.search.ranking.confidence import FEATURES
from unservable import VENDORS

WEIGHTS = ROOT / "layers/common/python/skillroute/search/ranking/confidence_weights.json"
UNSERVED = 0.2
"""The share of requests that nothing serves, as the probability takes it; half of them near misses."""
UNSERVED_OF_FIVE = 0.1
"""The same for the first five: with more, it says too little on every set that was not fitted on but MetaTool."""
LOST = 0.01
"""The share of answered requests that may be refused."""
SMALL = "small catalogues"

Target = Callable[[Sample], Array]


def first(sample: Sample) -> Array:
    """Return whether the first result is right."""
    return sample.first


def five(sample: Sample) -> Array:
    """Return whether one of the first five results is right."""
    return sample.five


TARGETS: Mapping[str, Target] = {"first": first, "first_five": five}
"""What each curve is the probability of."""
SIGNS = {"likelihood": 1, "cosine": 1, "ahead": 1, "words_found": 1, "other_action": -1}
"""More of what speaks for a result must not make it less likely, nor what speaks against it more so."""
OF_FIRST = ("likelihood", "cosine", "length")
"""Whether the first is right, the others say nothing of."""


OF_VENDOR = 0.3
"""How much a vendor's set counts beside tool-requests: its requests are sentences of documentation, or of one home."""


@dataclass(frozen=True, slots=True)
class Group:
    """Requests that are fitted on together, as they are and without a tool, and how much they count."""

    served: Sequence[Sample]
    unserved: Sequence[Sample]
    weight: float = 1.0

    def answered(self) -> Group:
        """Return the same without what is served and not answered among the first five."""
        kept = [Sample(*(getattr(one, name)[one.five] for name in Sample.__slots__)) for one in self.served]
        return Group(kept, self.unserved, self.weight)

    def along(self, direction: Array) -> Group:
        """Return the place of each request along a direction in place of the first feature, and no other."""
        return Group(*([_along(one, direction) for one in ones] for ones in (self.served, self.unserved)), self.weight)


def fit(groups: Sequence[Group], target: Target, use: Sequence[str] = FEATURES, share: float = UNSERVED) -> Array:
    """Return weights and intercept by Newton's method; all requests of a kind count the same, a `share` is unserved.

    Features that are not in `use`, and those whose weight would be against `SIGNS`, have none.
    """
    total = sum(group.weight for group in groups)
    shares = [
        (one, group.weight / total * part * len(one.first) / sum(len(other.first) for other in kind))
        for group in groups
        for kind, part in ((group.served, 1 - share), (group.unserved, share))
        for one in kind
    ]
    table = np.concatenate([np.column_stack([one.features, np.ones(len(one.first))]) for one, _ in shares])
    right = np.concatenate([target(one) for one, _ in shares]).astype(float)
    weight = np.concatenate([np.full(len(one.first), part / len(one.first)) for one, part in shares])
    found = np.zeros(table.shape[1])
    free = np.isin((*FEATURES, ""), (*use, ""))
    signs = np.array([SIGNS.get(name, 0) for name in (*FEATURES, "")])
    while True:
        for _ in range(30):
            chance = 1 / (1 + np.exp(-np.clip(table @ found, -30, 30)))
            slope = table[:, free].T @ (weight * (chance - right)) + 1e-6 * found[free]
            spread = table[:, free] * (weight * chance * (1 - chance))[:, None]
            found[free] -= np.linalg.solve(table[:, free].T @ spread + 1e-6 * np.eye(free.sum()), slope)
        against = found * signs < 0
        if not against.any():
            return found
        free &= ~against
        found = np.zeros(len(found))


def fit_five(own: Group, small: Group, vendors: Sequence[Group]) -> Array:
    """Return weights and intercept of the first five.

    What tells answered requests from those that nothing serves is learned of these alone, as many of both: one that is
    served and not answered looks like the first and counts as the second. How likely it is, of all on small catalogues
    and the vendors'.
    """
    direction = fit([group.answered() for group in (own, *vendors)], five, share=0.5)[:-1]
    line = fit([group.along(direction) for group in (small, *vendors)], five, FEATURES[:1], UNSERVED_OF_FIVE)
    return np.append(direction * line[0], line[-1])


def _along(sample: Sample, direction: Array) -> Sample:
    table = np.zeros_like(sample.features)
    table[:, 0] = sample.features @ direction
    return Sample(table, sample.first, sample.five)


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


def taken_away(pairs: Mapping[str, tuple[Sample, Sample]], weights: Array) -> None:
    """Print of other catalogues what is refused of requests without their tools, by how many of the same are lost."""
    print("\n| without its tools | above | 1 % lost | 2 % | 5 % | 10 % |\n|---|---|---|---|---|---|")
    for name, (as_it_is, without) in pairs.items():
        answered, unserved = chances_of(as_it_is, weights)[as_it_is.five], chances_of(without, weights)
        bounds = [float(np.quantile(answered, lost, method="lower")) for lost in (LOST, 0.02, 0.05, 0.1)]
        cells = [above(answered, unserved), *(float((unserved < at).mean()) for at in bounds)]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


def errors(judged: Mapping[str, Sample], curves: Mapping[str, Array]) -> None:
    """Print for what was not fitted on how far what is said and what is right are apart, by ten ranges on average."""
    print("\n| | " + " | ".join(f"{label}: said | right | error" for label in curves) + " |")
    print("|---" * (3 * len(curves) + 1) + "|")
    for name, sample in judged.items():
        cells: list[float] = []
        for label, weights in curves.items():
            said, right = chances_of(sample, weights), TARGETS[label](sample)
            tenth = np.minimum((said * 10).astype(int), 9)
            apart = [abs(float((said - right)[tenth == place].sum())) for place in range(10)]
            cells += [float(said.mean()), float(right.mean()), sum(apart) / len(said)]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


def bound_of(samples: Samples, weights: Array) -> float:
    """Print and return the bound that loses no more than `LOST` of any set, nor of the catalogues: cut, not rounded."""
    small = _together(list(samples.served.values()))
    answered = {
        name: chances_of(sample, weights)[sample.five]
        for name, sample in {**samples.judged, SMALL: small, SERVED: samples.measured[SERVED]}.items()
    }
    bounds = {name: float(np.quantile(chances, LOST, method="lower")) for name, chances in answered.items()}
    print(f"\n{LOST} of the answered requests are below: " + ", ".join(f"{n} {b:.3f}" for n, b in bounds.items()))
    return math.floor(min(bounds.values()) * 1000) / 1000


def fitted(samples: Samples) -> dict[str, Any]:
    """Fit both curves and the bound, print what they make of what is measured, and return them to be stored."""
    halves = [name for name in samples.served if name != HELD_OUT]
    small = Group([samples.served[name] for name in halves], [one for name in halves for one in samples.unserved[name]])
    own = Group([*small.served, samples.served[HELD_OUT]], [*small.unserved, *samples.unserved[HELD_OUT]])
    vendors = [
        Group([served], [unserved], OF_VENDOR) for served, unserved in map(samples.taken_away.__getitem__, VENDORS)
    ]
    curves = {"first": fit([small], first, OF_FIRST), "first_five": fit_five(own, small, vendors)}
    bound = bound_of(samples, curves["first_five"])
    unseen = {f"{SERVED}, and what nothing serves": _together(list(samples.measured.values())), **samples.judged}
    errors(unseen, curves)
    taken_away(samples.taken_away, curves["first_five"])
    asked = [samples.measured[name] for name in (SERVED, "near", "far")]
    for label, target in TARGETS.items():
        print(f"\n{label}")
        refusals(samples.measured, curves[label], bound)
        reliability(asked, curves[label], target)
    names = (*FEATURES, "intercept")
    made = {label: dict(zip(names, weights.round(4).tolist(), strict=True)) for label, weights in curves.items()}
    return {**made, "no_match_below": bound}


def _together(samples: Sequence[Sample]) -> Sample:
    columns = ([getattr(sample, name) for sample in samples] for name in Sample.__slots__)
    return Sample(*map(np.concatenate, columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench" / "confidence", help="where evidence is kept")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    collected = Collected.of(arguments.model, arguments.cache)
    made = fitted(samples_of(collected))
    print(json.dumps(made, indent=2))
    if arguments.write:
        stored = json.loads(WEIGHTS.read_text(encoding="utf-8")) if WEIGHTS.exists() else {"models": {}}
        stored["models"][collected.embedder.model.name] = made
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
