"""Learned requests of tools: groups of searches that led to one, near in meaning, each with its mean."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from skillroute.core.ranking.k_means import k_means
from skillroute.learning.learn.evidence import Evidence
from skillroute.learning.model import MAX_REQUESTS_OF_A_TOOL, MIN_SEARCHES
from skillroute.learning.states.model import LearnedRequest

SEARCHES_OF_A_REQUEST = 6
"""A tool has one learned request for so many of its searches, `MAX_REQUESTS_OF_A_TOOL` at most."""

HALF_LIFE_DAYS = 30.0
"""After so many days a search counts half."""

NEAR = 0.75
"""The cosine from which on searches are of one kind: among them a tool's share is counted."""

RELATED = 0.5
"""The cosine to their mean from which on searches agree on it: one who called the tool for something else does not."""

FULL_SHARE = 0.5
"""The share of such searches from which on a request counts in full: several tools may serve them."""

_MAX_WORDS = 8
_LEAST_WEIGHT = 0.25
_WORD = re.compile(r"[^\W\d_]{3,}")
_ROWS_AT_ONCE = 500

Floats = NDArray[np.float32]


def learned_requests(evidence: Sequence[Evidence], now: datetime, needed: int) -> list[LearnedRequest]:
    """Return what evidence teaches, tool by tool.

    Parameters
    ----------
    evidence : sequence of Evidence
        That which counts (`counted`).
    needed : int
        Callers that must agree on a request.
    """
    if not evidence:
        return []
    vectors = np.array([each.vector for each in evidence], np.float32)
    ages = np.array([(now - each.asked_at).total_seconds() / 86_400.0 for each in evidence])
    weights = (0.5 ** (np.maximum(ages, 0.0) / HALF_LIFE_DAYS)).astype(np.float32)
    found = [
        group
        for tool, places in _good_of_tools(evidence).items()
        for group in _groups_of(tool, places, evidence, vectors, weights, needed)
    ]
    shares = _shares(found, evidence, vectors, weights)
    return [
        LearnedRequest(
            tool_id=group.tool,
            nth=group.nth,
            vector=group.mean.tolist(),
            share=min(1.0, share / FULL_SHARE),
            words=_common_words([evidence[place] for place in group.places], needed),
            searches=len({evidence[place].search for place in group.places}),
            callers=len({evidence[place].caller for place in group.places}),
        )
        for group, share in zip(found, shares, strict=True)
        if share > 0.0
    ]


class _Group:
    """Searches of one tool that are near to each other, by their places, and their mean."""

    def __init__(self, tool: int, nth: int, places: Sequence[int], mean: Floats) -> None:
        self.tool, self.nth, self.places, self.mean = tool, nth, places, mean


def _good_of_tools(evidence: Sequence[Evidence]) -> dict[int, list[int]]:
    places = defaultdict(list)
    for place, each in enumerate(evidence):
        if each.is_good:
            places[each.tool_id].append(place)
    return places


def _groups_of(
    tool: int, places: list[int], evidence: Sequence[Evidence], vectors: Floats, weights: Floats, needed: int
) -> Iterator[_Group]:
    own, own_weights = vectors[places], weights[places]
    wanted = min(MAX_REQUESTS_OF_A_TOOL, max(1, len(places) // SEARCHES_OF_A_REQUEST))
    labels = k_means(own, wanted, seed=0, weights=own_weights)
    nth = 0
    for label in range(wanted):
        of_group = [places[member] for member in np.flatnonzero(labels == label)]
        agreed = _agreed(of_group, evidence, vectors, weights, needed)
        if agreed is not None:
            yield _Group(tool, nth, *agreed)
            nth += 1


def _agreed(
    places: list[int], evidence: Sequence[Evidence], vectors: Floats, weights: Floats, needed: int
) -> tuple[list[int], Floats] | None:
    """Return the searches that agree on their mean, and the mean; None where too few do, or of too few callers.

    Without those that do not agree the mean is another one, with which others may not agree: until all do.
    """
    while True:
        searches = {evidence[place].search for place in places}
        callers = {evidence[place].caller for place in places}
        if len(searches) < MIN_SEARCHES or len(callers) < needed:
            return None
        mean = _mean(places, evidence, vectors, weights)
        if mean is None:
            return None
        agreeing = [places[at] for at in np.flatnonzero(vectors[places] @ mean >= RELATED)]
        if len(agreeing) == len(places):
            return places, mean
        places = agreeing


def _mean(places: Sequence[int], evidence: Sequence[Evidence], vectors: Floats, weights: Floats) -> Floats | None:
    """Return the mean direction of searches; None where they cancel out.

    No caller has more weight in it than `MIN_SEARCHES` searches, and none of the searches much less than the others:
    the mean of two old ones and a new one is not the new one.
    """
    counts = Counter(evidence[place].caller for place in places)
    voices = [min(1.0, MIN_SEARCHES / counts[evidence[place].caller]) for place in places]
    shares = np.maximum(weights[places], _LEAST_WEIGHT) * np.array(voices, np.float32)
    mean: Floats = (vectors[places] * shares[:, None]).sum(axis=0)
    norm = float(np.linalg.norm(mean))
    return mean / norm if norm > 0.0 else None


def _shares(groups: Sequence[_Group], evidence: Sequence[Evidence], vectors: Floats, weights: Floats) -> list[float]:
    """Return for each group which share of the searches near its mean went to its tool, by their weights.

    Successes of all tools count, and failures of its own. Callers have a voice each, in full from `MIN_SEARCHES`
    searches on: one who reports more than all others together says no more than each of them.
    """
    tools = np.array([each.tool_id for each in evidence])
    is_good = np.array([each.is_good for each in evidence])
    _, callers = np.unique([each.caller for each in evidence], return_inverse=True)
    shares: list[float] = []
    for start in range(0, len(groups), _ROWS_AT_ONCE):
        some = groups[start : start + _ROWS_AT_ONCE]
        is_near = np.array([group.mean for group in some]) @ vectors.T >= NEAR
        for group, near in zip(some, is_near, strict=True):
            near[group.places] = True
            own = tools == group.tool
            rivals = np.flatnonzero(near & (is_good | own))
            heard = np.bincount(callers[rivals], weights[rivals])
            good = np.bincount(callers[rivals], weights[rivals] * (own & is_good)[rivals])
            voices = np.minimum(heard, MIN_SEARCHES)
            said = np.divide(good, heard, out=np.zeros_like(good), where=heard > 0.0)
            total = float(voices.sum())
            shares.append(float((said * voices).sum()) / total if total else 0.0)
    return shares


def _common_words(evidence: Sequence[Evidence], needed: int) -> list[str]:
    """Return the words that enough searches of enough callers have: none is of one search alone."""
    searches: Counter[str] = Counter()
    callers = defaultdict(set)
    for each in {each.search: each for each in evidence}.values():
        for word in set(_WORD.findall((each.text or "").casefold())):
            searches[word] += 1
            callers[word].add(each.caller)
    common = [word for word, times in searches.most_common() if times >= MIN_SEARCHES and len(callers[word]) >= needed]
    return common[:_MAX_WORDS]
