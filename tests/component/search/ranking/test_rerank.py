"""Mode hybrid_rerank: a reranker looks at the first of hybrid, and its failure is no error (decision 8, ADR 50)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.reranking.blend import RERANKED, Blend
from skillroute.core.reranking.port import Reranker
from skillroute.core.time.time_left import ending_with
from skillroute.search.answer.explanation import DetailedSearchResponse
from skillroute.search.ranking import rerank

from tests.builders import QUERY, System, lent_system
from tests.doubles import EdgeIndexes, LogRecords, TableEmbedder, WordReranker, at

STRATEGIES = ["hierarchical", "direct", "hybrid"]


@pytest.fixture
def reranker() -> WordReranker:
    """Likes what says "calendar"."""
    return WordReranker({"calendar": 14.0})


@pytest.fixture
def known(system: System, reranker: WordReranker, monkeypatch: pytest.MonkeyPatch) -> System:
    """Three tools in a skill: by learned fusion the first of them is the best, by the reranker the last."""
    monkeypatch.setattr(rerank, "blend_for", lambda search, name: Blend(1.0, 1.0))
    with_reranker(system, reranker)
    system.skill("home", at(0.9))
    system.tool("near", at(0.8), skills=["home"], description="schedule a meeting with John")
    system.tool("middle", at(0.7), skills=["home"], description="schedule a meeting")
    system.tool("wanted", at(0.6), skills=["home"], description="one more", server="calendar-mcp")
    return system


def with_reranker(system: System, reranker: Reranker | None) -> None:
    vars(system.parts)["reranker"] = reranker


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_decision_8_the_reranker_changes_the_order_in_every_strategy(
    known: System, reranker: WordReranker, strategy: str
) -> None:
    assert known.names(mode="hybrid", strategy=strategy)[-1] == "wanted"
    assert reranker.asked == []
    answer = known.search(mode="hybrid_rerank", strategy=strategy)
    assert [tool.name for tool in answer.tools] == ["wanted", "near", "middle"]
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("hybrid_rerank", [])
    [(query, texts, timeout_s)] = reranker.asked
    assert (query, timeout_s) == (QUERY, 2.0)
    assert sorted(texts) == [
        "middle: schedule a meeting",
        "near: schedule a meeting with John",
        "wanted (calendar): one more",
    ]


def test_the_score_is_the_blend_of_both_logits(known: System) -> None:
    fused = known.search(mode="hybrid", strategy="direct", explain=True)
    reranked = known.search(mode="hybrid_rerank", strategy="direct", explain=True)
    assert isinstance(fused, DetailedSearchResponse)
    assert isinstance(reranked, DetailedSearchResponse)
    own = {tool.name: tool.score for tool in fused.tools}
    for tool in reranked.tools:
        parts = tool.explain
        assert parts is not None
        assert parts.probability == pytest.approx(own[tool.name])
        assert parts.reranker_logit == (14.0 if tool.name == "wanted" else 0.0)
        assert tool.score == parts.reranked == parts.score
    scores = {tool.name: tool.score for tool in reranked.tools}
    assert scores["near"] == pytest.approx(own["near"])
    odds = own["wanted"] / (1 - own["wanted"]) * math.exp(14.0)
    assert scores["wanted"] == pytest.approx(odds / (1 + odds))
    assert reranked.explain is not None
    assert reranked.explain.fusion is not None
    assert reranked.explain.fusion.rerank is not None
    assert reranked.explain.fusion.rerank.model_dump(exclude={"rivals"}) == {
        "reranker": "word/reranker", "first_stage": 1.0, "weight": 1.0, "slope": 1.0, "rivalry": 0.0, "intercept": 0.0,
        "candidates": 3,
    }  # fmt: skip
    assert fused.explain is not None
    assert fused.explain.fusion is not None
    assert fused.explain.fusion.rerank is None


def test_decision_11_what_is_named_comes_first_whatever_the_reranker_says(known: System) -> None:
    assert known.names("use `middle` on the calendar", mode="hybrid_rerank", strategy="direct")[0] == "middle"


def test_what_is_behind_the_first_keeps_its_order_and_stays_behind(known: System, reranker: WordReranker) -> None:
    known.tools([(f"tool_{n:02}", at(0.5 - n / 100)) for n in range(30)], description="schedule a meeting")
    plain = known.names(mode="hybrid", strategy="direct", limit=50)
    answer = known.search(mode="hybrid_rerank", strategy="direct", limit=50)
    assert len(reranker.asked[0][1]) == RERANKED
    assert [tool.name for tool in answer.tools][RERANKED:] == plain[RERANKED:]
    scores = [tool.score for tool in answer.tools]
    assert scores == sorted(scores, reverse=True)


def test_the_routes_of_one_stage_rerank_too(known: System) -> None:
    search = known.parts.tool_search
    tools, run = search.tools(QUERY, LAPTOP, mode="hybrid_rerank")
    assert (tools[0].name, run.search_mode) == ("wanted", "hybrid_rerank")
    skills, run = search.skills(QUERY, LAPTOP, mode="hybrid_rerank")
    assert ([skill.id for skill in skills], run.search_mode) == (["home"], "hybrid_rerank")
    assert skills[0].score == tools[0].score


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("failure", ["away", "none"])
def test_without_the_reranker_the_answer_is_that_of_hybrid_and_says_so(
    known: System, reranker: WordReranker, log: LogRecords, strategy: str, failure: str
) -> None:
    expected = known.search(mode="hybrid", strategy=strategy)
    if failure == "away":
        reranker.error = RerankerUnavailable("the reranker is on holiday")
    else:
        del known.parts.__dict__["tool_search"]
        with_reranker(known, None)
    answer = known.search(mode="hybrid_rerank", strategy=strategy)
    assert answer.tools == expected.tools
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("hybrid", ["reranker_unavailable"])
    assert answer.metadata.confidence == expected.metadata.confidence
    [record] = log.having("search degraded")
    assert record.degradation == "reranker_unavailable"  # type: ignore[attr-defined]
    assert ("holiday" if failure == "away" else "SKILLROUTE_RERANK_PROVIDER") in record.reason  # type: ignore[attr-defined]


class _Lambda:
    def get_remaining_time_in_millis(self) -> int:
        return 600


def test_with_no_time_left_the_reranker_is_not_asked(known: System, reranker: WordReranker) -> None:
    known.names(mode="hybrid")  # what is loaded once is loaded
    with ending_with(_Lambda()):
        answer = known.search(mode="hybrid_rerank")
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("hybrid", ["reranker_unavailable"])
    assert reranker.asked == []


def test_nothing_found_is_no_match_though_the_reranker_is_away(known: System) -> None:
    with_reranker(known, None)
    answer = known.search(mode="hybrid_rerank", tool_threshold=0.99)
    assert (answer.tools, answer.metadata.no_match) == ([], True)


def test_without_the_embedding_model_nothing_is_reranked(known: System, reranker: WordReranker) -> None:
    known.embedder.away = True
    metadata = known.search(mode="hybrid_rerank").metadata
    assert (metadata.search_mode, metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert reranker.asked == []


@pytest.fixture
def calibrated(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    embedder = TableEmbedder(name="all-minilm-l6-v2-int8-v1")
    settings: dict[str, Any] = {"default_mode": "hybrid_rerank"}
    with lent_system(database_url, edge_indexes, embedder=embedder, **settings) as system:
        yield system


def test_a_setting_makes_it_the_default_and_a_reranker_without_curves_has_no_confidence(calibrated: System) -> None:
    with_reranker(calibrated, WordReranker({"calendar": 14.0}))
    calibrated.tool("near", at(0.8), description=QUERY)
    metadata = calibrated.search().metadata
    assert (metadata.search_mode, metadata.confidence, metadata.no_match) == ("hybrid_rerank", None, False)
    assert calibrated.search(mode="hybrid").metadata.confidence is not None
