"""Skills by their pieces, where an engine returns only the first of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from skillroute.agent_skills.search import candidates
from skillroute.agent_skills.search.candidates import PieceSearch
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter, IndexHit

VECTOR = np.zeros(2, np.float32)


class Pieces:
    """An index of a piece for each skill, with these cosines and words."""

    def __init__(self, cosines: dict[str, float], words: dict[str, float]) -> None:
        self._cosines = cosines
        self._words = words

    def search(self, _: Any, __: Any, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._best(self._cosines, where, limit)

    def search_text(self, _: Any, __: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._best(self._words, where, limit)

    def payloads(self, _: Any, keys: list[str]) -> dict[str, dict[str, str]]:
        return {key: {"agent_skill_id": key} for key in keys}

    def _best(self, scores: dict[str, float], where: IndexFilter, limit: int) -> list[IndexHit]:
        some = {key: score for key, score in scores.items() if where.keys is None or key in where.keys}
        return [IndexHit(key, some[key]) for key in sorted(some, key=lambda key: -some[key])][:limit]


def test_what_one_engine_has_found_gets_the_score_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN three skills that have the words and not the meaning, and one that has the meaning and half of the words
    index = Pieces(
        {"4": 0.9, "5": 0.8, "6": 0.7, "1": 0.1, "2": 0.1, "3": 0.1}, {"1": 10.0, "2": 9.9, "3": 9.8, "4": 5.0}
    )
    monkeypatch.setattr(candidates, "POOL", 3)
    search = PieceSearch(cast("SearchedIndex", index), IndexFilter(), limit=1)
    # WHEN
    by_words = search.by_words("a query")
    found = search.by_meaning("a query", VECTOR, by_words)
    # THEN none counts by its words alone, however many have more of them
    assert [(skill.id, round(skill.score, 3)) for skill in found] == [
        (4, 0.786), (5, 0.571), (6, 0.5), (1, 0.357), (2, 0.354), (3, 0.351),
    ]  # fmt: skip
