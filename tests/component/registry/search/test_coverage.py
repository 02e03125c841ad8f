"""Fused by coverage (docs/adr/0017): how much of the query the keywords cover, rather than how often they occur."""

from __future__ import annotations

import pytest
from skillroute.core.settings import LocalSettings

from tests.builders import EdgeIndexes, System, lent_system
from tests.component.registry.search.searched import Registry
from tests.doubles import at

EXACT = 1e-9


@pytest.fixture
def registry(system: System) -> Registry:
    return Registry(system)


def test_coverage_is_the_mean_over_the_keywords_of_their_saturated_boosts(registry: Registry) -> None:
    # "needle" in path, name and description: 10; "thread" in a tool: 1; "button" nowhere
    registry.server("/needle", at(0.2), name="Needle", description="A needle.", tools={"thread": at(0.1)})
    figures = registry.figures("needle thread button", fusion="coverage")
    coverage = (10 / 14 + 1 / 5 + 0) / 3
    score = figures["/needle"]
    assert (score.vector, score.text_boost) == (pytest.approx(0.2), 11.0)
    assert score.boost_contrib == pytest.approx(0.2 * coverage, abs=EXACT)
    assert score.unclamped == pytest.approx(0.6 + 0.2 * coverage, abs=1e-6)
    assert score.final == score.unclamped


def test_a_tool_is_weighed_by_its_share_of_the_keywords(registry: Registry) -> None:
    registry.server("/x", at(0.5), tools={"needle_and_thread": at(0.2), "needle": at(0.4), "other": at(0.9)})
    figures = registry.figures("needle thread", fusion="coverage")
    contribs = {name: figures[f"/x/{name}"].boost_contrib for name in ("needle_and_thread", "needle", "other")}
    assert contribs == pytest.approx({"needle_and_thread": 0.4, "needle": 0.2, "other": 0.0}, abs=EXACT)
    found = registry.search("needle thread", fusion="coverage")
    assert [tool.tool_name for tool in found.tools] == ["needle_and_thread", "other", "needle"]


def test_many_tools_with_one_word_do_not_outweigh_what_covers_the_query(registry: Registry) -> None:
    registry.server("/many", at(0.1), tools={f"list_needle_{number}": None for number in range(30)})
    registry.server("/right", at(0.1), description="Needles, threads, buttons.")
    assert registry.servers("needle thread button") == ["/many", "/right"]
    assert registry.servers("needle thread button", fusion="coverage") == ["/right", "/many"]


def test_the_relevance_is_clamped_and_sorted_by_before(registry: Registry) -> None:
    registry.server("/a", at(0.9), name="Needle")
    registry.server("/b", at(0.9), name="Needle", description="A needle.")
    found = registry.search("needle", fusion="coverage").servers
    assert [(server.path, server.relevance_score) for server in found] == [("/b", 1.0), ("/a", 1.0)]


def test_decision_35_it_is_the_default(database_url: str, edge_indexes: EdgeIndexes) -> None:
    default = LocalSettings.model_fields["registry_fusion"].default
    with lent_system(database_url, edge_indexes, registry_fusion=default) as system:
        registry = Registry(system)
        registry.server("/many", at(0.1), tools={f"list_needle_{number}": None for number in range(30)})
        registry.server("/right", at(0.1), description="Needles, threads, buttons.")
        found = registry.search("needle thread button")
        assert found.metadata.fusion == "coverage"
        assert found.servers[0].path == "/right"
        assert registry.search("needle thread button", fusion="boost").servers[0].path == "/many"


def test_without_the_model_the_best_by_boost_are_the_answer(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN more matches than are read, of which coverage prefers others than the boosts do
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(4):
        registry.server(f"/right/{number}", at(0.5), description="Needles, threads, buttons.")
    registry.server("/many", at(0.1), tools={f"list_needle_{number}": None for number in range(30)})
    registry.system.embedder.away = True
    found = registry.search("needle thread button", fusion="coverage", max_results=1)
    assert (found.search_mode, [server.path for server in found.servers]) == ("lexical-only", ["/many"])
