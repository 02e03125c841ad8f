"""The formulas of registry search, to the last digit that a double has room for.

Source: registry-search-design, Score Combination and Scoring in Lexical-Only Mode; decision 23.
"""

from __future__ import annotations

import pytest
from skillroute.registry.search import scoring
from skillroute.registry.search.model import BOOSTS, EntityType
from skillroute.registry.search.scoring import Score, Scored, by_rank, by_ranks
from skillroute.registry.text import Place

EXACT = 1e-9


def test_the_boosts_are_those_of_the_documents_table() -> None:
    assert {place.name: boost for place, boost in BOOSTS.items()} == {
        "PATH": 5.0,
        "NAME": 3.0,
        "DESCRIPTION": 2.0,
        "TAGS": 1.5,
        "TOOL": 1.0,
    }
    assert set(BOOSTS) == set(Place)


@pytest.mark.parametrize(
    ("cosine", "boost", "normalized", "unclamped", "final"),
    [
        (0.3412, 8.0, 0.6706, 1.4706, 1.0),  # the document's log line
        (0.0, 0.0, 0.5, 0.5, 0.5),
        (1.0, 0.0, 1.0, 1.0, 1.0),
        (-1.0, 0.0, 0.0, 0.0, 0.0),
        (-1.0, 1.0, 0.0, 0.1, 0.1),
        (0.1, 1.5, 0.55, 0.7, 0.7),
        (0.5, 12.5, 0.75, 2.0, 1.0),
        (-1.000001, 0.0, -0.0000005, -0.0000005, 0.0),
    ],
)
def test_the_hybrid_formula(cosine: float, boost: float, normalized: float, unclamped: float, final: float) -> None:
    score = scoring.boosted(cosine, boost)
    assert score.normalized_vector == pytest.approx(normalized, abs=EXACT)
    assert score.boost_contrib == pytest.approx(boost / 10, abs=EXACT)
    assert score.unclamped == pytest.approx(unclamped, abs=EXACT)
    assert score.final == pytest.approx(final, abs=EXACT)


@pytest.mark.parametrize(
    ("boost", "unclamped", "final"),
    [(0.0, 0.0, 0.0), (1.0, 0.08, 0.08), (5.0, 0.4, 0.4), (12.5, 1.0, 1.0), (25.0, 2.0, 1.0)],
)
def test_the_lexical_formula(boost: float, unclamped: float, final: float) -> None:
    score = scoring.lexical(boost)
    assert (score.vector, score.normalized_vector) == (None, None)
    assert score.boost_contrib == score.unclamped == pytest.approx(unclamped, abs=EXACT)
    assert score.final == pytest.approx(final, abs=EXACT)


@pytest.mark.parametrize(
    ("vector_rank", "keyword_rank", "expected"),
    [
        (1, 1, 1.0),
        (1, None, 0.5),
        (None, 1, 0.5),
        (2, 1, (1 / 62 + 1 / 61) * 61 / 2),
        (50, 50, 61 / 110),
        (None, None, 0.0),
    ],
)
def test_reciprocal_ranks(vector_rank: int | None, keyword_rank: int | None, expected: float) -> None:
    score = by_ranks(0.5, 3.0, vector_rank, keyword_rank)
    assert score.final == score.unclamped == pytest.approx(expected, abs=EXACT)
    assert (score.vector_rank, score.keyword_rank) == (vector_rank, keyword_rank)
    assert (score.vector, score.text_boost, score.boost_contrib) == (0.5, 3.0, pytest.approx(0.3, abs=EXACT))


def _scored(id_: int, unclamped: float, path: str, name: str = "", type_: EntityType = "mcp_server") -> Scored:
    return Scored(id_, type_, path, name, Score(None, 0.0, 0.0, unclamped))


def test_the_order_is_that_before_the_clamp() -> None:
    ranked = by_rank([_scored(1, 1.2, "/a"), _scored(2, 1.5, "/b"), _scored(3, 0.9, "/c")])
    assert [each.id for each in ranked] == [2, 1, 3]
    assert [each.score.final for each in ranked] == [1.0, 1.0, 0.9]


def test_ties_go_by_path_then_by_id_whatever_the_name() -> None:
    ranked = by_rank([_scored(3, 1.0, "/b", "A"), _scored(2, 1.0, "/a", "B"), _scored(1, 1.0, "/a", "C")])
    assert [each.id for each in ranked] == [1, 2, 3]


def test_ties_of_tools_go_by_the_path_of_their_server_then_by_name() -> None:
    tools = [_scored(1, 1.0, "/b", "a", "tool"), _scored(2, 1.0, "/a", "z", "tool"), _scored(3, 1.0, "/a", "b", "tool")]
    assert [each.id for each in by_rank(tools)] == [3, 2, 1]


@pytest.mark.parametrize(
    ("best_tool", "lift"), [(None, 0.0), (0.1, 0.0), (0.4, 0.0), (0.8, 0.1)], ids=["none", "farther", "alike", "nearer"]
)
def test_a_server_by_coverage_and_its_best_tool(best_tool: float | None, lift: float) -> None:
    """(cosine + 0.5 * max(0, best_tool - cosine) + 1) / 2 + 0.2 * coverage (docs/adr/0057)."""
    score = scoring.covered_server(0.4, 3.0, 0.5, best_tool)
    assert score.tool_contrib == pytest.approx(lift, abs=EXACT)
    assert (score.vector, score.text_boost) == (0.4, 3.0)
    assert score.boost_contrib == pytest.approx(0.1, abs=EXACT)
    assert score.unclamped == pytest.approx(0.7 + lift + 0.1, abs=EXACT)
