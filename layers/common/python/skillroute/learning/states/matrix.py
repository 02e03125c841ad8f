"""Learned requests as one matrix, which each search is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from skillroute.core.embedding.model import Vector
from skillroute.search.learned import LEAST_COSINE, Nearness

_BYTES_OF_A_ROW = 300
"""About what a learned request takes in addition to its vector, and what a pair takes."""


class RequestMatrix:
    """The learned requests of all tools as one matrix.

    Parameters
    ----------
    rows : sequence of (tool id, vector as float32 bytes, share)
        Tool by tool.
    pairs : sequence of (tool id, id of the other, tasks), optional
        Tools that tasks called together, of each tool the most frequent first.

    Attributes
    ----------
    keys : set of str
        The tools that have learned requests, as they are called in the index.
    n_bytes : int
        How much memory it takes, about.
    """

    def __init__(self, rows: Sequence[tuple[int, bytes, float]], pairs: Sequence[tuple[int, int, int]] = ()) -> None:
        self._used_with: dict[str, list[tuple[str, int]]] = {}
        for tool, other, tasks in pairs:
            self._used_with.setdefault(str(tool), []).append((str(other), tasks))
        packed = np.frombuffer(b"".join(vector for _, vector, _ in rows), "<f4")
        self._vectors: NDArray[np.float32] = packed.reshape(len(rows), -1) if rows else packed.reshape(0, 0)
        self._shares = np.array([share for _, _, share in rows], np.float64)
        of_tool: dict[int, int] = {}
        self._places = np.array([of_tool.setdefault(tool, len(of_tool)) for tool, _, _ in rows], np.int32)
        self._keys = np.array([str(tool) for tool in of_tool], np.object_)
        self.keys = frozenset(self._keys.tolist())
        self.n_bytes = self._vectors.nbytes + _BYTES_OF_A_ROW * (len(rows) + len(pairs))

    def __len__(self) -> int:
        return len(self._shares)

    def used_with(self, key: str) -> Sequence[tuple[str, int]]:
        """Return the tools that tasks called together with one, and how many tasks; the most first."""
        return self._used_with.get(key, [])

    def near(self, vector: Vector) -> Mapping[str, Nearness]:
        """Return for each tool the learned request that is nearest to a query, from `LEAST_COSINE` on."""
        if not len(self):
            return {}
        # Not by BLAS: its threads would take ten times the processor time for so small a product.
        cosines = np.einsum("ij,j->i", self._vectors, np.asarray(vector, np.float32))
        rows = np.flatnonzero(cosines >= LEAST_COSINE)
        if not rows.size:
            return {}
        near, places = cosines[rows], self._places[rows]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        best = np.maximum.reduceat(near, starts)
        # Of rows that are as near the first of a tool counts: in reverse order it is the last one written.
        lengths = np.diff(starts, append=rows.size)
        equal = np.flatnonzero(near == np.repeat(best, lengths))[::-1]
        row_of = np.empty(len(self._keys), np.intp)
        row_of[places[equal]] = rows[equal]
        found = places[starts]
        values = zip(np.minimum(best, 1.0).tolist(), self._shares[row_of[found]].tolist(), strict=True)
        return dict(zip(self._keys[found].tolist(), map(Nearness._make, values), strict=True))


class OwnBeforeGlobal:
    """An organisation's learned requests, and those of the global catalogue for tools that the first have nothing of.

    Both are as they are read: those of the global catalogue are in memory once, for all organisations.
    """

    def __init__(self, own: RequestMatrix, shared: RequestMatrix) -> None:
        self._own = own
        self._shared = shared

    def used_with(self, key: str) -> Sequence[tuple[str, int]]:
        """Return the tools that tasks called together with one, and how many tasks; the most first."""
        tasks = dict(self._shared.used_with(key))
        for other, times in self._own.used_with(key):
            tasks[other] = max(times, tasks.get(other, 0))
        return sorted(tasks.items(), key=lambda pair: (-pair[1], int(pair[0])))

    def near(self, vector: Vector) -> Mapping[str, Nearness]:
        """Return for each tool the learned request that is nearest to a query, from `LEAST_COSINE` on."""
        shared = self._shared.near(vector).items()
        return {**self._own.near(vector), **{key: near for key, near in shared if key not in self._own.keys}}
