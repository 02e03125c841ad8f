"""Ranks of tools end where candidates do: at the nearest, and at the best by keyword."""

from __future__ import annotations

import pytest

from tests.builders import System
from tests.component.registry.search.searched import Registry
from tests.doubles import at


def test_fused_by_rank_only_the_nearest_tools_and_the_best_by_keyword_have_a_rank(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a search of three candidates, and a server with five tools
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    registry = Registry(system)
    cosines = {"needle_a": 0.5, "needle_b": 0.6, "needle_c": 0.7, "needle_d": 0.8, "needle_e": 0.9}
    registry.server("/x", at(0.5), tools={name: at(cosine) for name, cosine in cosines.items()})
    # WHEN
    figures = registry.figures("needle", fusion="rrf", max_results=1)
    # THEN
    found = {name: figures[f"/x/{name}"] for name in cosines}
    assert [tool.vector_rank for tool in found.values()] == [None, None, 3, 2, 1]
    assert [tool.keyword_rank for tool in found.values()] == [1, 2, 3, None, None]
    scale = 61.0 / 2.0
    assert [tool.final for tool in found.values()] == pytest.approx(
        [scale / 61, scale / 62, scale / 63 + scale / 63, scale / 62, scale / 61], abs=1e-9
    )
