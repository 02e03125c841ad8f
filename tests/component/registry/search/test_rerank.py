"""Mode hybrid_rerank of registry search: the first of each type are reranked, and a failure is no error (ADR 50)."""

from __future__ import annotations

import pytest
from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.reranking.blend import Blend
from skillroute.core.reranking.port import Reranker
from skillroute.registry.search import rerank
from skillroute.registry.search.model import RegistrySearchResponse
from skillroute.registry.search.rerank import RERANKED

from tests.builders import System
from tests.component.registry.search.searched import Registry
from tests.doubles import LogRecords, WordReranker, at


@pytest.fixture
def reranker() -> WordReranker:
    """Likes what says "calendar"."""
    return WordReranker({"calendar": 5.0})


@pytest.fixture
def registry(system: System, reranker: WordReranker, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Two servers with a tool each, and two agents; by both searches the first is the better of each."""
    monkeypatch.setattr(rerank, "blend_for", lambda search, name: Blend(1.0, 1.0))
    use(system, reranker)
    filled = Registry(system)
    filled.server("/near", at(0.9), name="Near", description="Something.", tools=[("near_tool", "A meeting.", at(0.9))])
    filled.server("/far", at(0.6), name="Far", description="A calendar.", tools=[("far_tool", "A calendar.", at(0.6))])
    filled.agent("/near_agent", at(0.9), name="Near agent", description="Something.")
    filled.agent("/far_agent", at(0.6), name="Far agent", description="A calendar.")
    return filled


def use(system: System, reranker: Reranker | None) -> None:
    vars(system.parts)["reranker"] = reranker


def found(answer: RegistrySearchResponse) -> tuple[list[str], list[str], list[str]]:
    return (
        [server.path for server in answer.servers],
        [tool.tool_name for tool in answer.tools],
        [agent.path for agent in answer.agents],
    )


NEAR_FIRST = (["/near", "/far"], ["near_tool", "far_tool"], ["/near_agent", "/far_agent"])
FAR_FIRST = (["/far", "/near"], ["far_tool", "near_tool"], ["/far_agent", "/near_agent"])


def test_the_first_of_each_type_are_reranked_in_one_call(registry: Registry, reranker: WordReranker) -> None:
    assert found(registry.search("plan my week")) == NEAR_FIRST
    assert reranker.asked == []
    answer = registry.search("plan my week", mode="hybrid_rerank")
    assert found(answer) == FAR_FIRST
    assert (answer.search_mode, answer.metadata.degraded) == ("hybrid_rerank", [])
    [(query, texts, timeout_s)] = reranker.asked
    assert (query, timeout_s) == ("plan my week", 2.0)
    assert {"Near\nSomething.\nnear_tool: A meeting.", "far tool (far): A calendar"} <= set(texts)
    assert len(texts) == 6


def test_the_relevance_is_the_blend_and_explain_shows_the_rerankers_part(registry: Registry) -> None:
    plain = {one.name: one for one in registry.search("plan my week", explain=True).explain or ()}
    answer = registry.search("plan my week", mode="hybrid_rerank", explain=True)
    shown = {one.name: one for one in answer.explain or ()}
    assert {one.reranker_logit for one in plain.values()} == {None}
    assert {name: one.reranker_logit for name, one in shown.items()} == {
        "Near": 0.0, "near_tool": 0.0, "Near agent": 0.0, "Far": 5.0, "far_tool": 5.0, "Far agent": 5.0,
    }  # fmt: skip
    assert shown["Near"].final == pytest.approx(plain["Near"].final)
    assert shown["Far"].final > plain["Far"].final
    assert answer.servers[0].relevance_score == shown["Far"].final


def test_only_what_is_asked_for_is_reranked(registry: Registry, reranker: WordReranker) -> None:
    registry.search("plan my week", mode="hybrid_rerank", entity_types=["a2a_agent"])
    assert len(reranker.asked[0][1]) == 2


def test_what_is_named_exactly_stays_first(registry: Registry) -> None:
    registry.server("/planner", at(0.95), name="Planner", description="The planner plans.", tags=("planner",))
    plain = registry.search("planner")
    assert plain.servers[0].relevance_score == 1.0
    answer = registry.search("planner", mode="hybrid_rerank")
    assert (answer.servers[0].path, answer.servers[0].relevance_score) == ("/planner", 1.0)


def test_what_is_behind_the_first_stays_behind_in_its_order(registry: Registry, reranker: WordReranker) -> None:
    for number in range(RERANKED + 5):
        registry.server(f"/s{number:02}", at(0.5 - number / 100), name=f"S{number:02}", description="Something.")
    plain = registry.servers("plan my week", max_results=30, entity_types=["mcp_server"])
    answer = registry.search("plan my week", max_results=30, entity_types=["mcp_server"], mode="hybrid_rerank")
    assert len(reranker.asked[0][1]) == RERANKED
    assert [server.path for server in answer.servers][RERANKED:] == plain[RERANKED:]
    scores = [server.relevance_score for server in answer.servers]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("failure", ["away", "none"])
def test_without_the_reranker_the_answer_is_that_of_hybrid_and_says_so(
    registry: Registry, reranker: WordReranker, log: LogRecords, failure: str
) -> None:
    if failure == "away":
        reranker.error = RerankerUnavailable("the reranker is on holiday")
    else:
        use(registry.system, None)
    answer = registry.search("plan my week", mode="hybrid_rerank")
    assert found(answer) == NEAR_FIRST
    assert (answer.search_mode, answer.metadata.degraded) == ("hybrid", ["reranker_unavailable"])
    [record] = log.having("search degraded")
    assert record.degradation == "reranker_unavailable"  # type: ignore[attr-defined]


def test_without_the_embedding_model_nothing_is_reranked(registry: Registry, reranker: WordReranker) -> None:
    registry.system.embedder.away = True
    answer = registry.search("calendar", mode="hybrid_rerank")
    assert (answer.search_mode, answer.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert reranker.asked == []
