"""Fused by coverage, a server counts with its nearest tool (docs/adr/0057)."""

from __future__ import annotations

import pytest

from tests.builders import System, of_org
from tests.component.registry.search.searched import Registry
from tests.doubles import at


@pytest.fixture
def registry(system: System) -> Registry:
    return Registry(system)


def test_half_of_what_the_nearest_tool_is_nearer_is_added_to_the_cosine(registry: Registry) -> None:
    registry.server("/toolbox", at(0.2), tools={"saw": at(0.9), "drill": at(0.4)})
    registry.server("/near", at(0.5), tools={"plane": at(0.3)})
    registry.server("/bare", at(0.4))

    scores = registry.figures("question", fusion="coverage")

    assert scores["/toolbox"].tool_contrib == pytest.approx((0.9 - 0.2) / 4, abs=1e-6)
    assert scores["/toolbox"].unclamped == pytest.approx((0.2 + 0.35 + 1) / 2, abs=1e-6)
    assert [scores[path].tool_contrib for path in ("/near", "/bare")] == [0.0, 0.0]
    assert registry.servers("question", fusion="coverage") == ["/toolbox", "/near", "/bare"]
    assert registry.servers("question", fusion="boost") == ["/near", "/bare", "/toolbox"]
    assert registry.figures("question", fusion="boost")["/toolbox"].tool_contrib == 0.0


def test_a_server_is_found_by_its_tool_where_neither_its_vector_nor_a_word_finds_it(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(5):
        registry.server(f"/near/{number}", at(0.5))
    registry.server("/far", at(0.1), tools={"saw": at(0.95)})

    found = registry.search("question", fusion="coverage", max_results=1)

    assert [server.path for server in found.servers] == ["/far"], "(0.1 + 0.425 + 1) / 2 is more than 0.75"
    assert [tool.tool_name for tool in found.servers[0].matching_tools] == ["saw"]
    assert registry.servers("question", fusion="rrf", max_results=1) == ["/near/0"]


def test_one_without_a_vector_counts_by_its_tool(registry: Registry) -> None:
    registry.server("/waits", None, tools={"saw": at(0.8)})
    registry.server("/near", at(0.3))

    scores = registry.figures("question", fusion="coverage")

    assert (scores["/waits"].vector, scores["/waits"].unclamped) == (0.0, pytest.approx((0.4 + 1) / 2, abs=1e-6))
    assert registry.servers("question", fusion="coverage") == ["/waits", "/near"]


def test_what_a_search_shows_is_the_same_whether_all_candidates_are_scored(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More contain a keyword than are read; the lift of what was read must not hide what was not."""
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(12):
        registry.server(f"/words/{number}", at(0.3 + 0.04 * number), description="A needle.")
    registry.server("/lifted", at(0.2), description="A needle.", tools={"saw": at(0.9)})
    registry.server("/named", at(0.1), name="Needle", tools={"plane": at(0.85)})

    def answer(*, explain: bool) -> list[tuple[str, float]]:
        found = registry.search("needle", fusion="coverage", max_results=4, explain=explain)
        return [(server.path, round(server.relevance_score, 6)) for server in found.servers]

    assert answer(explain=False) == answer(explain=True)
    assert len(answer(explain=False)) == 4


def test_tools_of_another_organisation_lift_no_server_of_the_same_path(registry: Registry) -> None:
    registry.server("/box", at(0.2), org="acme", tools={"saw": at(0.3)})
    registry.server("/box", at(0.2), org="globex", tools={"saw": at(0.9)})

    acme, globex = (registry.search("question", fusion="coverage", caller=of_org(org)) for org in ("acme", "globex"))

    assert [server.relevance_score for server in acme.servers] == [pytest.approx(0.6 + 0.1 / 4, abs=1e-6)]
    assert [server.relevance_score for server in globex.servers] == [pytest.approx(0.6 + 0.7 / 4, abs=1e-6)]


def test_conditions_hold_for_what_a_tool_finds(registry: Registry) -> None:
    registry.server("/untagged", at(0.2), tools={"saw": at(0.9)})
    registry.server("/tagged", at(0.2), tags=("docs",), tools={"plane": at(0.8)})
    registry.server("/off", at(0.2), tags=("docs",), is_enabled=False, tools={"drill": at(0.95)})

    assert registry.servers("question", fusion="coverage", tags=["docs"]) == ["/tagged"]
    assert set(registry.servers("question", fusion="coverage")) == {"/tagged", "/untagged"}
