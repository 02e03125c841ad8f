"""Splitting groups of tools that are unlike, or too large: a skill's tools have something in common, and not all do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from skillroute.core.ranking.k_means import Labels, Matrix, refined

from skillroute_local.proposing.ward import cut, ward_merges

_ROUNDS = 10
_MAX_VECTORS = 1_500  # Ward's method is quadratic
_UNLIKE = 0.8
_WORTH_IT = 1.25


def alike(vectors: Matrix) -> float:
    """Return the mean cosine between two different vectors of a group; 1 for one alone."""
    n = len(vectors)
    if n < 2:
        return 1.0
    total = vectors.sum(axis=0)
    return float((total @ total - n) / (n * (n - 1)))


def split_unlike(vectors: Matrix, labels: Labels, weights: Matrix, *, min_size: int) -> Labels:
    """Split the groups whose tools are unlike, where the parts are clearly more alike.

    Unlike is a group that is less than 0.8 times as alike as the groups are in the middle (their median): what is left
    over after all that belongs together was grouped. Its halves have to be alike 1.25 times as much, weighted by size,
    and no more unlike than that, and one of them large enough; they are looked at again.

    Parameters
    ----------
    labels : array of int, shape (n,)
        0 to k - 1.

    Returns
    -------
    array of int, shape (n,)
        New groups have the numbers from k on.
    """
    labels, count = labels.copy(), int(labels.max()) + 1
    groups = [np.flatnonzero(labels == number) for number in range(count)]
    sized = [alike(vectors[rows]) for rows in groups if len(rows) >= min_size]
    least = _UNLIKE * float(np.median(sized)) if sized else 0.0
    waiting = [rows for rows in groups if min_size < len(rows) <= _MAX_VECTORS]
    while waiting:
        rows = waiting.pop()
        before = alike(vectors[rows])
        if before >= least:
            continue
        halves = cut(ward_merges(vectors[rows], weights[rows]), 2)
        halves = refined(vectors[rows], halves, 2, weights=weights[rows], rounds=_ROUNDS)
        parts = [rows[halves == half] for half in (0, 1)]
        after = sum(len(part) * alike(vectors[part]) for part in parts if len(part) > 1) / len(rows)
        if max(map(len, parts)) < min_size or min(map(len, parts)) == 0 or after < max(least, _WORTH_IT * before):
            continue
        labels[parts[1]] = count
        count += 1
        waiting += [part for part in parts if len(part) > min_size]
    return labels


def split_large(vectors: Matrix, labels: Labels, weights: Matrix, *, most: int) -> Labels:
    """Halve the groups of more than `most` tools until none is larger, whatever they have in common.

    Parameters
    ----------
    labels : array of int, shape (n,)
        0 to k - 1; new groups have the numbers from k on.
    """
    labels, count = labels.copy(), int(labels.max()) + 1
    waiting = [rows for number in range(count) if len(rows := np.flatnonzero(labels == number)) > most]
    while waiting:
        rows = waiting.pop()
        second = _half(vectors[rows], weights[rows])
        labels[rows[second]] = count
        count += 1
        waiting += [some for some in (rows[~second], rows[second]) if len(some) > most]
    return labels


def _half(vectors: Matrix, weights: Matrix) -> NDArray[np.bool_]:
    """Return which of a group's tools go: Ward's half if it has a quarter of them, else one end of its axis."""
    if len(vectors) <= _MAX_VECTORS:
        halves = refined(vectors, cut(ward_merges(vectors, weights), 2), 2, weights=weights, rounds=_ROUNDS)
        if min(np.bincount(halves, minlength=2)) >= len(vectors) / 4:
            first: NDArray[np.bool_] = halves == 1
            return first
    axis = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)[2][0]
    second = np.zeros(len(vectors), bool)
    second[np.argsort(vectors @ axis, kind="stable")[len(vectors) // 2 :]] = True
    return second
