"""The measurement that decides whether a state goes live: later searches, asked with it and without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from skillroute.core.ranking.intervals import Difference, difference
from skillroute.core.ranking.metrics import ndcg, recall
from skillroute.learning.learn.evidence import Evidence
from skillroute.search.learned import LearnedRequests

HELD_OUT = 0.2
"""The share of each caller's searches, the last ones, that are asked again and not learned from."""

MIN_HELD_OUT = 20
MAX_HELD_OUT = 400
"""Searches that are asked again."""

MAX_LOSS = 0.005
"""How much a measure may be lower, half a point, at the lower end of its interval."""

Measures = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A search that is asked again, and the tools that it led to; text is None where only its vector was kept."""

    text: str | None
    vector: Sequence[float]
    tools: frozenset[str]


Ask = Callable[[HeldOut, LearnedRequests | None], Sequence[str]]
"""Returns the ids of the first five tools of a search, with what was learned or without."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a measurement: the means before and after, their differences, and what follows from them."""

    is_better: bool
    reason: str
    before: dict[str, float]
    after: dict[str, float]
    differences: dict[str, Difference]

    def as_json(self) -> dict[str, Any]:
        """Return it as it is kept with its state."""
        return {
            "is_better": self.is_better,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
            "differences": {
                name: {field: round(value, 4) for field, value in asdict(each).items()}
                for name, each in self.differences.items()
            },
        }


def split(evidence: Sequence[Evidence]) -> tuple[list[Evidence], list[HeldOut]]:
    """Return the evidence of each caller's first searches, and the last searches with the tools that they led to.

    No caller has more of the last than the second most active one, but for `MIN_HELD_OUT`: a flood would else decide
    alone, or push those of others out of what is measured.
    """
    of_caller: defaultdict[str, dict[str, datetime]] = defaultdict(dict)
    for each in evidence:
        if each.is_good:
            of_caller[each.caller][each.search] = each.asked_at
    last = sorted(
        (asked_at, search, caller)
        for caller, most in _quotas({caller: len(found) for caller, found in of_caller.items()}).items()
        for search, asked_at in sorted(of_caller[caller].items(), key=lambda found: found[::-1])[-most:]
    )[-MAX_HELD_OUT:]
    since: dict[str, datetime] = {}
    for asked_at, _, caller in last:
        since.setdefault(caller, asked_at)
    tools: dict[str, set[str]] = {search: set() for _, search, _ in last}
    of_search: dict[str, Evidence] = {}
    for each in evidence:
        if each.is_good and each.search in tools:
            tools[each.search].add(str(each.tool_id))
            of_search[each.search] = each
    asked = [
        HeldOut(of_search[search].text, of_search[search].vector, frozenset(found)) for search, found in tools.items()
    ]
    first = [
        each
        for each in evidence
        if each.search not in tools and (each.caller not in since or each.asked_at <= since[each.caller])
    ]
    return first, asked


def _quotas(searches: Mapping[str, int]) -> dict[str, int]:
    """Return how many searches of each caller are held out, of those that have any."""
    # One service that asks nearly everything, next to a few people, is measured just enough.
    most = max(sorted(searches.values())[-2:][0], round(MIN_HELD_OUT / HELD_OUT)) if searches else 0
    quotas, carried = {}, 0.0
    for caller, count in sorted(searches.items()):
        # Callers who search once or twice have their part together.
        carried += min(count, most) * HELD_OUT
        quotas[caller] = min(count, int(carried + 1e-9))
        carried -= quotas[caller]
    return {caller: count for caller, count in quotas.items() if count}


def measured(ask: Ask, asked: Sequence[HeldOut], learned: LearnedRequests | None) -> Measures:
    """Return the measures of `skillroute eval` for each search."""
    found: Measures = {"recall@1": [], "recall@5": [], "ndcg@5": []}
    for each in asked:
        ids, needs = list(ask(each, learned)), [each.tools]
        found["recall@1"].append(recall(ids, needs, 1))
        found["recall@5"].append(recall(ids, needs, 5))
        found["ndcg@5"].append(ndcg(ids, needs, 5))
    return found


def judge(before: Measures, after: Measures, *, seed: int = 0) -> Verdict:
    """Decide whether what was learned is better: nDCG@5 is higher, and it is unlikely that it lost half a point.

    Searches that are measured are ones that showed what was called: their recall@5 was 1 with what was live then, and
    can only fall. What leaves the first five is a loss of nDCG@5 as well, which therefore decides alone.
    """
    differences = {name: difference(before[name], after[name], seed=seed) for name in before}
    gained = differences["ndcg@5"]
    if gained.mean <= 0.0:
        is_better, reason = False, "nDCG@5 is not higher than before"
    elif gained.low < -MAX_LOSS:
        is_better, reason = False, "nDCG@5 is higher, but not surely: more outcomes are needed"
    else:
        is_better, reason = True, "nDCG@5 is higher"
    return Verdict(is_better, reason, _means(before), _means(after), differences)


def is_worse(verdict: Verdict) -> bool:
    """Return whether what was learned is more than half a point below what it was compared with.

    That is asked of the state that is live: what was shown by it, and then called, is what is measured, so that a state
    that differs from it can only lose there. One that is newer takes its place where it is no worse.
    """
    return verdict.differences["ndcg@5"].mean < -MAX_LOSS


def _means(measures: Measures) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in measures.items()}
