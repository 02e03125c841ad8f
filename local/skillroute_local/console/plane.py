"""Vectors in two dimensions, so that what is near stays near."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

_COMPONENTS = 50  # what is left out is mostly noise, and a tenth of the numbers takes a third of the time
_PERPLEXITY = 30.0
_ROUNDS = 500  # with 1,000 no more neighbours stay near


def in_a_plane(vectors: Floats) -> Floats:
    """Return where vectors lie in a plane, each coordinate within 0..1; the same vectors give the same places.

    By t-SNE, as scikit-learn has it: 56 % of the ten nearest tools of a catalogue are among the ten nearest in the
    plane, while the two principal components keep 7 % (docs/adr/0060).

    Parameters
    ----------
    vectors : array of shape (n, dimension)

    Returns
    -------
    array of shape (n, 2)
    """
    number = len(vectors)
    if number < 4:  # no neighbours to speak of
        return np.linspace((0.0, 0.5), (1.0, 0.5), number, dtype=np.float32)
    from sklearn.manifold import TSNE  # noqa: PLC0415 (a second, for who opens the map)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    components = _principal(vectors)
    tsne = TSNE(
        init=components[:, :2] / max(float(components[:, 0].std()), 1e-9) * 1e-4,
        perplexity=min(_PERPLEXITY, (number - 1) / 3),
        max_iter=_ROUNDS,
        random_state=0,
    )
    # One thread: OpenMP's wait for each other in a loop, and where other programs have the processors, two take five
    # times as long as one (1,560 points, two busy cores: 17 s and 3 s; on quiet ones 1.2 s and 1.9 s).
    with threadpool_limits(1, "openmp"):
        made = tsne.fit_transform(components)
    least, most = made.min(axis=0), made.max(axis=0)
    places: Floats = ((made - least) / np.maximum(most - least, 1e-9)).astype(np.float32)
    return places


def _principal(vectors: Floats) -> Floats:
    """Return the vectors by their largest principal components, at least two."""
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    largest = directions[:, ::-1][:, : max(2, min(_COMPONENTS, vectors.shape[1]))]
    components: Floats = (centred @ largest).astype(np.float32)
    return components
