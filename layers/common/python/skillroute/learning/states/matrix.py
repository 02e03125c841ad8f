"""Learned requests as one matrix, which each search is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from skillroute.core.embedding.model import Vector
from skillroute.search.learned import LEAST_COSINE, Nearness


class RequestMatrix:
    """The learned requests of all tools as one matrix.

    Parameters
    ----------
    rows : sequence of (tool id, vector as float32 bytes, share)
        Tool by tool.
    pairs : sequence of (tool id, id of the other, tasks), optional
        Tools that tasks called together, of each tool the most frequent first.
    """

    def __init__(self, rows: Sequence[tuple[int, bytes, float]], pairs: Sequence[tuple[int, int, int]] = ()) -> None:
        self._used_with: dict[str, list[tuple[str, int]]] = {}
        for tool, other, tasks in pairs:
            self._used_with.setdefault(str(tool), []).append((str(other), tasks))
        self._tools = [tool for tool, _, _ in rows]
        packed = np.frombuffer(b"".join(vector for _, vector, _ in rows), "<f4")
        self._vectors: NDArray[np.float32] = packed.reshape(len(rows), -1) if rows else packed.reshape(0, 0)
        self._shares = [share for _, _, share in rows]

    def __len__(self) -> int:
        return len(self._tools)

    def used_with(self, key: str) -> Sequence[tuple[str, int]]:
        """Return the tools that tasks called together with one, and how many tasks; the most first."""
        return self._used_with.get(key, [])

    def near(self, vector: Vector) -> Mapping[str, Nearness]:
        """Return for each tool the learned request that is nearest to a query, from `LEAST_COSINE` on."""
        if not self._tools:
            return {}
        cosines = self._vectors @ np.asarray(vector, np.float32)
        found: dict[str, Nearness] = {}
        for row in np.flatnonzero(cosines >= LEAST_COSINE).tolist():
            cosine, key = min(1.0, float(cosines[row])), str(self._tools[row])
            if key not in found or found[key].cosine < cosine:
                found[key] = Nearness(cosine, self._shares[row])
        return found
