"""Spherical k-means: vectors of L2 norm 1, compared by cosine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]


def k_means(
    vectors: Matrix, k: int, seed: int, *, weights: Matrix | None = None, rounds: int = 25
) -> NDArray[np.int64]:
    """Return each vector's cluster, 0 to k - 1: k-means++ start, `rounds` rounds at most; some clusters may be empty.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
        L2 norm 1.
    weights : array of shape (n,), optional
        How much each vector pulls at its centre; 1 by default.
    """
    rng = np.random.default_rng(seed)
    weights = np.ones(len(vectors), vectors.dtype) if weights is None else weights
    centres = [int(rng.integers(len(vectors)))]
    nearest = vectors @ vectors[centres[0]]
    while len(centres) < k:
        away = np.clip(1.0 - nearest, 1e-12, None).astype(np.float64) * weights
        centres.append(int(rng.choice(len(vectors), p=away / away.sum())))
        nearest = np.maximum(nearest, vectors @ vectors[centres[-1]])
    return refined(vectors, (vectors @ vectors[centres].T).argmax(axis=1), k, weights=weights, rounds=rounds)


def refined(vectors: Matrix, labels: Labels, k: int, *, weights: Matrix, rounds: int) -> Labels:
    """Return labels after rounds of k-means from `labels` on; a cluster that loses all its vectors stays empty."""
    for _ in range(rounds):
        centres = normalised(weighted_sums(vectors, labels, k, weights))
        nearest = (vectors @ centres.T).argmax(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
    return labels


def weighted_sums(vectors: Matrix, labels: Labels, k: int, weights: Matrix) -> Matrix:
    """Return the weighted sum of each cluster's vectors, shape (k, dimension)."""
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    sums = np.zeros((k, vectors.shape[1]), vectors.dtype)
    sums[present] = np.add.reduceat(vectors[order] * weights[order, None], starts, axis=0)
    return sums


def normalised(vectors: Matrix) -> Matrix:
    """Return rows of L2 norm 1; a row of zeros stays one, and so is nearest to nothing."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = vectors / np.where(norms == 0.0, 1.0, norms)
    return scaled
