"""Ward's method over weighted points: merge, again and again, the two clusters whose union costs least."""

from __future__ import annotations

import numpy as np
from skillroute.core.ranking.k_means import Labels, Matrix


def ward_merges(points: Matrix, weights: Matrix) -> list[tuple[int, int]]:
    """Return the n - 1 merges in order, each as (stays, goes), where `stays` is the smaller number.

    The cost of merging a and b is ``w_a * w_b / (w_a + w_b) * |c_a - c_b|^2``, with c their means (Ward 1963). Each
    cluster remembers its nearest one, so a merge costs O(n) and the whole O(n^2) in time and memory: 0.7 s and 13 MB
    for 1,265 points of 384 dimensions on one core.
    """
    n = len(points)
    centres, weights = points.astype(np.float64), weights.astype(np.float64)
    squares = (centres * centres).sum(axis=1)
    costs = squares[:, None] + squares[None, :] - 2.0 * centres @ centres.T
    costs *= np.outer(weights, weights) / (weights[:, None] + weights[None, :])
    np.fill_diagonal(costs, np.inf)
    nearest = costs.argmin(axis=1)
    cost = costs[np.arange(n), nearest]
    alive = np.ones(n, bool)
    merges = []
    for _ in range(n - 1):
        first = int(cost.argmin())
        stays, goes = sorted((first, int(nearest[first])))
        merges.append((stays, goes))
        total = weights[stays] + weights[goes]
        centres[stays] = (centres[stays] * weights[stays] + centres[goes] * weights[goes]) / total
        weights[stays], squares[stays] = total, centres[stays] @ centres[stays]
        alive[goes] = False
        costs[goes], costs[:, goes], cost[goes] = np.inf, np.inf, np.inf
        row = squares + squares[stays] - 2.0 * centres @ centres[stays]
        row *= weights * total / (weights + total)
        row[~alive], row[stays] = np.inf, np.inf
        costs[stays], costs[:, stays] = row, row
        # Whose nearest was one of the two looks again; the others only compare with the new cluster.
        closer = alive & (row < cost)
        nearest[closer], cost[closer] = stays, row[closer]
        stale = np.flatnonzero(alive & ((nearest == stays) | (nearest == goes)) & ~closer)
        nearest[stale] = costs[stale].argmin(axis=1)
        cost[stale] = costs[stale, nearest[stale]]
    return merges


def cut(merges: list[tuple[int, int]], k: int) -> Labels:
    """Return each point's cluster, 0 to k - 1, where k clusters are left."""
    labels = np.arange(len(merges) + 1)
    for stays, goes in merges[: len(merges) + 1 - k]:
        labels[labels == goes] = stays
    return np.unique(labels, return_inverse=True)[1]
