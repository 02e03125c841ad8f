"""Which tools belong together. Every choice here was measured: docs/adr/0011-proposing-skills.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skillroute.core.ranking.k_means import Labels, Matrix, k_means, normalised, refined, weighted_sums

from skillroute_local.proposing.cohesion import split_large, split_unlike
from skillroute_local.proposing.ward import cut, ward_merges

NONE = -1
"""The label of what is too far from every cluster."""

_SEED = 7
_MAX_POINTS = 1_500  # Ward's method is quadratic; from here on it merges small clusters instead of tools
_GROUPS = 1_000
_ROUNDS = 10
_ROUNDS_TRIED = 3  # enough to compare numbers of clusters by
_DAMPING = 0.25
_GOOD_ENOUGH = 0.9
_UNRELATED = 0.95
_UNRELATED_AT_BEST = 0.99
_SAMPLE = 2_000
_MAX_RATIO = 2.0
_MIN_OF_MAX = 20

Step = Callable[[int, int], object]
"""Called with how many steps are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """Clusters of vectors.

    Attributes
    ----------
    labels : array of int, shape (n,)
        Each vector's cluster, 0 to k - 1, or `NONE`.
    similarity : array of float, shape (n,)
        Cosine of each vector with the centre of its cluster; of the nearest one where the label is `NONE`.
    count : int
        How many clusters there are.
    silhouette : float
        The mean silhouette, -1 to 1, of what is in a cluster.
    """

    labels: Labels
    similarity: Matrix
    count: int
    silhouette: float

    def cohesions(self) -> list[float]:
        """Return the mean similarity within each cluster."""
        return [float(self.similarity[self.labels == c].mean()) for c in range(self.count)]


def damped(sources: Sequence[Hashable]) -> Matrix:
    """Return a weight for each tool: ``n ** -0.25``, where n is how many tools its source (its server) has.

    So three hundred tools of one server weigh as much as seventy-two of as many servers: they may take several skills,
    and do not take most of them.
    """
    sizes = Counter(sources)
    return np.array([sizes[source] ** -_DAMPING for source in sources], np.float32)


def cluster(
    vectors: Matrix,
    weights: Matrix,
    *,
    min_size: int = 3,
    count: int | None = None,
    step: Step = lambda done, total: None,
) -> Clustering:
    """Group vectors; the same input gives the same clusters.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
        L2 norm 1.
    min_size : int
        A smaller cluster is none; its vectors go to another one that is near enough.
    count : int, optional
        How many clusters at most. By default the fewest whose silhouette comes near to the best.
    """
    n = len(vectors)
    if n < min_size:
        return Clustering(np.full(n, NONE), np.zeros(n, np.float32), 0, 0.0)
    group_of, merges = _hierarchy(vectors, weights)
    counts = [min(count, len(merges) + 1)] if count else _candidates(n, len(merges) + 1)
    sample = np.random.default_rng(_SEED).permutation(n)[:_SAMPLE]
    tried = []
    for done, k in enumerate(counts):
        step(done, len(counts))
        labels = refined(vectors, cut(merges, k)[group_of], k, weights=weights, rounds=_ROUNDS_TRIED)
        score = _criterion(vectors, labels, weights, sample, min_size)
        tried.append((labels, score))
    step(len(counts), len(counts))
    best = max(score for _, score in tried)
    labels = next(labels for labels, score in tried if score >= min(best, _GOOD_ENOUGH * best))
    k = int(labels.max()) + 1
    labels = refined(vectors, labels, k, weights=weights, rounds=_ROUNDS)
    if count is not None:
        return _settled(vectors, labels, weights, min_size)
    labels = split_unlike(vectors, labels, weights, min_size=min_size)
    return _bounded(vectors, weights, _settled(vectors, labels, weights, min_size), min_size)


def most_of(n: int) -> int:
    """Return how many of n tools a group may have: twice their root, and twenty at least.

    A skill of a third of all tools narrows no search, and nobody reads through it.
    """
    return max(_MIN_OF_MAX, round(_MAX_RATIO * math.sqrt(n)))


def _bounded(vectors: Matrix, weights: Matrix, found: Clustering, min_size: int) -> Clustering:
    """Split the groups that are larger than they may be; no tool that is in a group leaves all of them for that."""
    most = max(min_size, most_of(len(vectors)))
    inside = np.flatnonzero(found.labels != NONE)
    if not len(inside) or int(np.bincount(found.labels[inside]).max()) <= most:
        return found
    parts = split_large(vectors[inside], found.labels[inside], weights[inside], most=most)
    sizes = np.bincount(parts)
    order = [c for c, size in sorted(enumerate(sizes.tolist()), key=lambda part: -part[1]) if size >= min_size]
    number_of = {c: number for number, c in enumerate(order)}
    final = np.full(len(vectors), NONE)
    final[inside] = [number_of.get(part, NONE) for part in parts.tolist()]
    placed = np.flatnonzero(final != NONE)
    centres = normalised(weighted_sums(vectors[placed], final[placed], len(order), weights[placed]))
    similarity = found.similarity.copy()
    similarity[placed] = (vectors[placed] * centres[final[placed]]).sum(axis=1)
    silhouettes = _silhouettes(vectors[placed], final[placed], weights[placed], np.arange(len(placed)))
    quality = float(np.average(silhouettes, weights=weights[placed]))
    return Clustering(final, similarity, len(order), quality)


def _hierarchy(vectors: Matrix, weights: Matrix) -> tuple[Labels, list[tuple[int, int]]]:
    """Return the group of each vector, and the merges of the groups. Few vectors are a group each."""
    n = len(vectors)
    if n <= _MAX_POINTS:
        return np.arange(n), ward_merges(vectors, weights)
    small = k_means(vectors, _GROUPS, _SEED, weights=weights, rounds=2)
    present, group_of = np.unique(small, return_inverse=True)
    heavy = np.bincount(group_of, weights).astype(np.float32)
    means = weighted_sums(vectors, group_of, len(present), weights) / heavy[:, None]
    return group_of, ward_merges(means, heavy)


def _candidates(n: int, most: int) -> list[int]:
    """Return numbers of clusters to try, each a sixth more than the one before, up to twice the root of n."""
    highest = min(max(2, round(2.0 * math.sqrt(n))), most)
    counts = [1] if highest == 1 else [2]
    while counts[-1] < highest:
        counts.append(min(highest, max(counts[-1] + 1, round(counts[-1] * 7 / 6))))
    return counts


def _criterion(vectors: Matrix, labels: Labels, weights: Matrix, sample: NDArray[np.int64], min_size: int) -> float:
    """Return the weighted mean silhouette, where a vector in a cluster that is too small counts as 0."""
    sizes = np.bincount(labels)
    kept = np.where(sizes[labels[sample]] < min_size, 0.0, _silhouettes(vectors, labels, weights, sample))
    return float(np.average(kept, weights=weights[sample]))


def _silhouettes(vectors: Matrix, labels: Labels, weights: Matrix, sample: NDArray[np.int64]) -> Matrix:
    """Return the silhouettes of a sample (Rousseeuw 1987), with cosine distances to all vectors.

    The mean distance to a cluster needs only the sum of its vectors, so this is linear in n.
    """
    k = int(labels.max()) + 1
    totals = np.bincount(labels, weights, minlength=k)
    dots = vectors[sample] @ weighted_sums(vectors, labels, k, weights).T
    rows, own, mine = np.arange(len(sample)), labels[sample], weights[sample]
    others = totals[own] - mine
    alone = others < 1e-6
    inside = 1.0 - (dots[rows, own] - mine) / np.where(alone, 1.0, others)
    distances = np.where(totals > 0.0, 1.0 - dots / np.where(totals > 0.0, totals, 1.0), np.inf)
    distances[rows, own] = np.inf
    outside = distances.min(axis=1)
    counts = ~alone & np.isfinite(outside)  # alone in its cluster, or in the only one, a vector has a silhouette of 0
    outside = np.where(counts, outside, inside)
    return np.where(counts, (outside - inside) / np.maximum(np.maximum(inside, outside), 1e-9), 0.0)


def _settled(vectors: Matrix, labels: Labels, weights: Matrix, min_size: int) -> Clustering:
    """Drop what is too small and too far, and number the clusters again, the largest first."""
    kept = np.flatnonzero(np.bincount(labels) >= min_size)
    if not len(kept):
        return Clustering(np.full(len(labels), NONE), np.zeros(len(labels), np.float32), 0, 0.0)
    k = int(labels.max()) + 1
    sums = weighted_sums(vectors, labels, k, weights)
    nearness = vectors @ normalised(sums)[kept].T
    placed = nearness.argmax(axis=1)
    mine = kept[placed] == labels
    # Of its own cluster a vector is no witness: in a small one it would pull the centre to itself.
    without = normalised(sums[labels] - vectors * weights[:, None])
    close = np.where(mine, (vectors * without).sum(axis=1), nearness.max(axis=1))
    unrelated, at_best = _unrelated(nearness, placed, mine)
    # Among many clusters the nearest of those that are not one's own is near by chance more often than a given one.
    near = close >= np.where(mine, unrelated, at_best)
    sizes = np.where(near, placed, NONE)
    order = [c for c, size in Counter(sizes[near].tolist()).most_common() if size >= min_size]
    number_of = {c: number for number, c in enumerate(order)}
    final = np.array([number_of.get(c, NONE) for c in sizes.tolist()], np.int64)
    inside = np.flatnonzero(final != NONE)
    silhouettes = _silhouettes(vectors[inside], final[inside], weights[inside], np.arange(len(inside)))
    quality = float(np.average(silhouettes, weights=weights[inside])) if len(inside) else 0.0
    return Clustering(final, nearness.max(axis=1), len(order), quality)


def _unrelated(nearness: Matrix, placed: Labels, mine: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the cosines that 19 of 20, and 99 of 100, tools stay below with a cluster that is not theirs.

    So the vectors themselves decide what is far; a fixed cosine would suit one embedding model.
    """
    others = np.ones(nearness.shape, bool)
    others[np.flatnonzero(mine), placed[mine]] = False
    if not others.any():
        return 0.0, 0.0
    unrelated, at_best = np.quantile(nearness[others], (_UNRELATED, _UNRELATED_AT_BEST))
    return float(unrelated), float(at_best)
