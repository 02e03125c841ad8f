"""`explain` says what each score is made of; who does not ask for it sees none of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.core.ranking.learned_fusion import FEATURES
from skillroute.search.answer.explanation import DetailedSearchResponse
from skillroute.search.ranking import confidence

from tests.builders import QUERY, System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at

CALIBRATED = "all-minilm-l6-v2-int8-v1"
STRATEGIES = ["hierarchical", "direct", "hybrid"]


@pytest.fixture
def known(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    embedder = TableEmbedder(name=CALIBRATED)
    with lent_system(database_url, edge_indexes, embedder=embedder, default_mode="hybrid") as system:
        system.skill("home", at(0.9))
        system.tool("near", at(0.8), skills=["home"], description="nothing in common")
        system.tool("words", at(0.1), skills=["home"], description="schedule a meeting with John", server="John's")
        system.tool("calls", at(0.6), description="one more")
        yield system


def explained(system: System, query: str = QUERY, **request: Any) -> DetailedSearchResponse:
    answer = system.search(query, explain=True, **request)
    assert isinstance(answer, DetailedSearchResponse)
    return answer


def logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_parts_of_mode_hybrid_add_up_to_the_score(known: System, strategy: str) -> None:
    answer = explained(known, strategy=strategy)
    assert answer.explain is not None
    assert answer.explain.fusion is not None
    curve = answer.explain.fusion
    for tool in answer.tools:
        parts = tool.explain
        assert parts is not None
        assert parts.features is not None
        assert list(parts.features) == list(FEATURES)
        assert all(part.contribution == part.value * part.weight for part in parts.features.values())
        assert parts.sum == pytest.approx(sum(part.contribution for part in parts.features.values()))
        assert parts.rivals is not None
        value = curve.slope * parts.sum + curve.rivalry * parts.rivals + curve.intercept
        assert parts.probability == pytest.approx(logistic(value))
        assert parts.score == tool.score == pytest.approx(parts.probability + parts.skill_lift)
    lifted = [tool.name for tool in answer.tools if tool.explain and tool.explain.skill_lift]
    assert bool(lifted) is (strategy == "hybrid")


def test_signals_and_their_ranks_are_those_of_all_candidates(known: System) -> None:
    answer = explained(known, strategy="direct", limit=50)
    found = {tool.name: tool.explain for tool in answer.tools}
    near, words = found["near"], found["words"]
    assert near is not None
    assert words is not None
    assert (near.cosine, near.cosine_rank) == (pytest.approx(0.8, abs=1e-6), 1)
    assert (words.cosine, words.cosine_rank) == (pytest.approx(0.1, abs=1e-6), 3)
    assert (near.bm25, near.bm25_rank) == (0.0, None)
    assert words.bm25_rank == 1
    assert words.words_in == {"name": 0.0, "description": pytest.approx(1.0), "server": pytest.approx(0.4, abs=0.35)}
    assert near.words_in == {"name": 0.0, "description": 0.0, "server": 0.0}
    assert (words.clause_margin, words.leads_clause) == (None, None), "a request without clauses"


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_what_is_named_stands_first_by_a_rule_that_is_shown_and_adds_nothing(known: System, mode: str) -> None:
    known.tool("calls_of_all", at(0.9), description="calls calls calls calls")
    named, other = explained(known, "calls", strategy="direct", mode=mode, limit=2).tools
    assert named.explain is not None
    assert other.explain is not None
    assert (named.name, named.explain.is_named, named.explain.rule) == ("calls", True, "named")
    assert (other.name, other.explain.is_named, other.explain.rule) == ("calls_of_all", False, None)
    assert named.score == named.explain.score
    assert named.score < other.score
    if mode == "hybrid":
        assert named.score == named.explain.probability


def test_clauses_are_named_and_what_suits_one_is_shown(known: System) -> None:
    query = "read the quarterly report, schedule a meeting, tell the whole team"
    answer = explained(known, query, strategy="direct")
    assert answer.explain is not None
    assert answer.explain.fusion is not None
    assert answer.explain.fusion.clauses == [
        "read the quarterly report",
        "schedule a meeting",
        "tell the whole team",
    ]
    leading = {tool.name: tool.explain.leads_clause for tool in answer.tools if tool.explain}
    assert leading == {"near": False, "words": True, "calls": False}


def test_confidence_is_explained_by_its_parts(known: System) -> None:
    answer = explained(known, strategy="direct")
    assert answer.explain is not None
    judged = answer.explain.confidence
    assert judged is not None
    for parts, value in (
        (judged.first, answer.metadata.confidence),
        (judged.first_five, answer.metadata.confidence_first_five),
    ):
        assert list(parts) == [*confidence.FEATURES, "intercept"]
        assert value is not None
        assert logistic(sum(part.contribution for part in parts.values())) >= value - 1e-12
    assert judged.no_match_below == confidence.load_confidences()[CALIBRATED].no_match_below


def test_mode_semantic_is_explained_by_its_cosine_alone(known: System) -> None:
    answer = explained(known, mode="semantic", strategy="direct")
    [near, *_] = answer.tools
    assert near.explain is not None
    assert near.explain.model_dump(exclude_defaults=True) == {"cosine": near.score, "score": near.score}
    assert answer.explain is not None
    assert answer.explain.model_dump(exclude_none=True) == {}


def test_mode_lexical_is_explained_by_bm25(known: System) -> None:
    first, second = explained(known, "`calls` with John", mode="lexical", strategy="direct").tools
    assert first.explain is not None
    assert second.explain is not None
    assert (first.name, first.explain.is_named, first.score) == (
        "calls",
        True,
        first.explain.bm25 / second.explain.bm25_best,
    )
    assert (second.explain.bm25_rank, second.explain.bm25) == (1, second.explain.bm25_best)
    assert first.explain.bm25_rank == 2
    assert second.explain.words_in is not None
    assert 0.0 < second.explain.words_in["description"] < 1.0
    assert (first.explain.features, first.explain.cosine) == (None, None)


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_asking_changes_nothing_else(known: System, mode: str, strategy: str) -> None:
    plain = known.search(mode=mode, strategy=strategy).model_dump()
    asked = explained(known, mode=mode, strategy=strategy).model_dump()
    del asked["explain"]
    for tool in asked["tools"]:
        assert tool.pop("explain")["score"] == tool["score"]
        assert tool.pop("duplicates") is None
    for answer in (plain, asked):
        answer["metadata"] = {n: v for n, v in answer["metadata"].items() if not n.endswith("_time_ms")}
    assert asked == plain
    assert "explain" not in plain


def test_an_empty_answer_is_explained(known: System) -> None:
    answer = explained(known, mode="hybrid", strategy="direct", item_type="prompt")
    assert answer.tools == []
    assert answer.explain is not None
    assert answer.explain.confidence is None


def test_other_organisations_tools_are_in_no_part(known: System) -> None:
    """Ranks, rivals and features are of what the caller sees (decision 30)."""
    before = explained(known, strategy="direct", caller=of_org("a"))
    known.tools([(f"theirs_{n}", at(0.99)) for n in range(5)], org="b", description=QUERY)
    after = explained(known, strategy="direct", caller=of_org("a"))
    assert (after.tools, after.explain) == (before.tools, before.explain)


def test_an_explanation_is_of_bounded_size(known: System) -> None:
    """Beside the longest names and descriptions: nothing of a tool's texts is repeated."""
    known.tools([(f"{'x' * 250}_{n}", at(0.5)) for n in range(60)], description=f"{QUERY} " * 200)
    tools = explained(known, "read, tell it, schedule a meeting with John " * 20, strategy="direct", limit=50).tools
    assert len(tools) == 50
    assert max(len(tool.explain.model_dump_json()) for tool in tools if tool.explain) < 2_000
