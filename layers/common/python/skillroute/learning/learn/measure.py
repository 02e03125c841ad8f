"""The measurement that decides whether a state goes live: later searches, asked with it and without it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from skillroute.core.embedding.model import Vector
from skillroute.core.ranking.intervals import Difference, difference
from skillroute.core.ranking.metrics import ndcg, recall
from skillroute.learning.learn.evidence import Evidence
from skillroute.search.learned import LearnedRequests

HELD_OUT = 0.2
"""The share of searches, the last ones, that are asked again and not learned from."""

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
    vector: Vector
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
    """Return the evidence of the first searches in time, and the last searches with the tools that they led to."""
    good = sorted({(each.asked_at, each.search): each.caller for each in reversed(evidence) if each.is_good}.items())
    last, asked_of = _last([(search, caller) for (_, search), caller in good])
    held_out = set(last)
    since = good[-len(last)][0][0] if last else None
    tools: defaultdict[str, set[str]] = defaultdict(set)
    of_search: dict[str, Evidence] = {}
    for each in evidence:
        if each.search in held_out and each.is_good:
            tools[each.search].add(str(each.tool_id))
            of_search[each.search] = each
    asked = [HeldOut(of_search[search].text, of_search[search].vector, frozenset(tools[search])) for search in asked_of]
    first = [each for each in evidence if each.search not in held_out and (since is None or each.asked_at <= since)]
    return first, asked


def _last(good: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Return the last of the successful searches, which come with their callers, and those of them that are measured.

    No caller has more of these than the second most active one, and the last go back until so many are `HELD_OUT`: one
    caller's flood would else decide alone, or leave nothing to measure.
    """
    of_all = Counter(caller for _, caller in good)
    is_one = len(of_all) < 2
    wanted = min(int(_fair(of_all, is_one=is_one)[0] * HELD_OUT), MAX_HELD_OUT)
    counts: Counter[str] = Counter()
    last: list[tuple[str, str]] = []
    while _fair(counts, is_one=is_one)[0] < wanted:
        last.append(good[-1 - len(last)])
        counts[last[-1][1]] += 1
    limit = _fair(counts, is_one=is_one)[1]
    taken: Counter[str] = Counter()
    asked = []
    for search, caller in last:
        taken[caller] += 1
        if taken[caller] <= limit:
            asked.append(search)
    return [search for search, _ in reversed(last)], asked[::-1]


def _fair(counts: Counter[str], *, is_one: bool) -> tuple[int, int]:
    """Return how many searches count of those that callers have, and the most of one caller."""
    if is_one:
        return counts.total(), counts.total()
    first, second = [count for _, count in counts.most_common(2)] if len(counts) > 1 else (counts.total(), 0)
    return counts.total() - first + second, second


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
