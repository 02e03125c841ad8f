"""Vectors in two dimensions, so that what is near stays near."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

_COMPONENTS = 50  # what is left out is mostly noise, and a tenth of the numbers takes a third of the time
_PERPLEXITY = 30.0
_ROUNDS = 500  # with 1,000 no more neighbours stay near
_LANDMARKS = 10_000
_NEAREST = 3  # of those that have a place, for one that has none
_SHARPNESS = 8  # of cosines as weights
_STEP = 0.006  # of a longer one fewer neighbours stay near; without any, points would hide each other
_BLOCK = 1_000  # cosines with all landmarks are 40 MB


def in_a_plane(vectors: Floats, landmarks: int = _LANDMARKS) -> Floats:
    """Return where vectors lie in a plane, each coordinate within 0..1; the same vectors give the same places.

    By t-SNE, as scikit-learn has it: 56 % of the ten nearest tools of a catalogue are among the ten nearest in the
    plane, while the two principal components keep 7 % (docs/adr/0060). Of more than `landmarks` so many are placed that
    way, and the others among the landmarks that they are nearest to.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
    landmarks : int

    Returns
    -------
    array of shape (n, 2)
    """
    number = len(vectors)
    if number < 4:  # no neighbours to speak of
        return np.linspace((0.0, 0.5), (1.0, 0.5), number, dtype=np.float32)
    if number > landmarks:
        evenly = np.linspace(0, number - 1, landmarks).astype(int)
        places = in_a_plane(vectors[evenly], landmarks)
        made = among(vectors, vectors[evenly], places)
        made[evenly] = places
        return made
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
    scaled: Floats = ((made - least) / np.maximum(most - least, 1e-9)).astype(np.float32)
    return scaled


def among(vectors: Floats, known: Floats, places: Floats, *, step: float = _STEP) -> Floats:
    """Return places for vectors among others that have one: at the nearest, by cosine, a step towards the next two.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
    known : array of shape (m, dimension)
    places : array of shape (m, 2)
    step : float
        The longest, of the width of the plane.

    Returns
    -------
    array of shape (n, 2)
    """
    made = np.empty((len(vectors), 2), np.float32)
    number = min(_NEAREST, len(known))
    directions = np.ascontiguousarray(_unit(known).T)
    for start in range(0, len(vectors), _BLOCK):
        cosines = _unit(vectors[start : start + _BLOCK]) @ directions
        nearest = np.argpartition(-cosines, number - 1, axis=1)[:, :number]
        likeness = np.take_along_axis(cosines, nearest, axis=1)
        weights = np.maximum(likeness, 1e-3)[..., None] ** _SHARPNESS
        middle = (places[nearest] * weights).sum(axis=1) / weights.sum(axis=1)
        first = places[np.take_along_axis(nearest, likeness.argmax(axis=1)[:, None], axis=1)[:, 0]]
        way = middle - first
        far = np.linalg.norm(way, axis=1, keepdims=True)
        made[start : start + _BLOCK] = first + way * np.minimum(1, step / np.maximum(far, 1e-9))
    return made


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def _principal(vectors: Floats) -> Floats:
    """Return the vectors by their largest principal components, at least two."""
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    largest = directions[:, ::-1][:, : max(2, min(_COMPONENTS, vectors.shape[1]))]
    components: Floats = (centred @ largest).astype(np.float32)
    return components
