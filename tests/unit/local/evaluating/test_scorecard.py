"""Adding up answers, by measure and by server, and what fails a build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from skillroute.search.model import EnrichedTool, SearchMetadata, SearchRequest, SearchResponse
from skillroute_local.errors import LocalError
from skillroute_local.evaluating.bounds import bounds
from skillroute_local.evaluating.catalogue import Judged, Question, Tool
from skillroute_local.evaluating.gate import below_baseline, below_floors, read_baseline, read_floor
from skillroute_local.evaluating.scorecard import (
    Answer,
    Scorecard,
    ask,
    by_server,
    differences,
    instead,
    report_of,
    unserved,
    worst,
)

from tests.doubles import FakeClock

TOOLS = {name: Tool(name, server, name) for server, name in [("s", "a"), ("s", "b"), ("t", "c"), ("", "d")]}


class World:
    """A search that finds what a test says, in a time that a test says."""

    def __init__(self, found: dict[str, str], takes_s: float = 0.001, degraded: list[Any] | None = None) -> None:
        self.found = found
        self.asked: list[SearchRequest] = []
        self.clock = FakeClock()
        self.takes_s = takes_s
        self.degraded = degraded or []
        self.no_match: set[str] = set()

    def search(self, request: SearchRequest) -> SearchResponse:
        self.asked.append(request)
        self.clock.advance(self.takes_s)
        tools = [
            EnrichedTool(
                id=name,
                db_id=number,
                tool_id=number,
                server_path=None,
                server_is_enabled=True,
                type="tool",
                name=name,
                description="",
                server=TOOLS[name].server or None,
                score=0.5,
                similarity=0.5,
                skill_ids=[],
                primary_skill_id=None,
            )
            for number, name in enumerate(self.found[request.query])
        ]
        times = {name: 0.0 for name in SearchMetadata.model_fields if name.endswith("_time_ms")}
        metadata = SearchMetadata(
            strategy_used="direct",
            search_mode="semantic",
            skill_ids_used=None,
            fallback_reason=None,
            degraded=self.degraded,
            no_match=request.query in self.no_match or not (tools or self.degraded),
            schemas_omitted=[],
            descriptions_cut=False,
            stage1_skill_count=0,
            stage2_candidate_count=len(tools),
            final_count=len(tools),
            **times,
        )
        return SearchResponse(query=request.query, tools=tools, matched_skills=[], metadata=metadata)


def question(query: str, *needs: str) -> Question:
    return Question(f"q:{query}", query, tuple(frozenset(need) for need in needs))


QUESTIONS = [
    question("first", "a"),
    question("second", "b"),
    question("half", "a", "c"),
    question("lost", "d"),
    question("none"),
    question("none but found"),
]
FOUND = {"first": "ab", "second": "ab", "half": "c", "lost": "", "none": "", "none but found": "b"}


def scorecard(**found: str) -> Scorecard:
    world = World(FOUND | found)
    return ask(world.search, QUESTIONS, {"strategy": "direct"}, clock=world.clock)


def test_means_are_over_the_requests_that_a_measure_is_about() -> None:
    means = scorecard().means()
    assert means["recall@1"] == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert means["recall@5"] == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert means["comp@5"] == pytest.approx(2 / 4)
    assert means["empty"] == pytest.approx(1 / 4)
    assert means["no_match"] == pytest.approx(1 / 2)


def test_an_answer_that_says_that_nothing_fits_counts_as_none_whatever_came_with_it() -> None:
    world = World(FOUND)
    world.no_match = {"first", "none but found"}
    card = ask(world.search, QUESTIONS, {})
    means = card.means()
    assert means["no_match"] == pytest.approx(2 / 2)
    assert means["refused"] == pytest.approx(1 / 4)
    assert means["recall@5"] == pytest.approx((1 + 1 + 0.5 + 0) / 4), "what came is looked at all the same"
    shown = [answer.question.query for answer in worst(card.answers, 10)]
    assert "none but found" not in shown
    assert "first" in shown, "a right answer that is refused is one of the worst"


def test_an_empty_answer_of_a_search_that_failed_in_part_refuses_nothing() -> None:
    world = World(FOUND, degraded=["index_unavailable"])
    means = ask(world.search, QUESTIONS, {}).means()
    assert (means["no_match"], means["refused"], means["empty"]) == (0.0, 0.0, 1 / 4)


def test_a_measure_that_no_request_is_about_has_no_mean() -> None:
    world = World(FOUND)
    served = ask(world.search, QUESTIONS[:1], {}).means()
    unserved_ = ask(world.search, QUESTIONS[4:], {}).means()
    assert (served["no_match"], served["recall@5"]) == (None, 1.0)
    assert (unserved_["no_match"], unserved_["recall@5"]) == (0.5, None)


def test_each_request_is_asked_for_five_without_schemas_and_with_the_settings() -> None:
    world = World(FOUND)
    ask(world.search, QUESTIONS, {"strategy": "hybrid", "tool_threshold": 0.1})
    assert [request.query for request in world.asked] == [each.query for each in QUESTIONS]
    [first, *_] = world.asked
    assert (first.limit, first.include_schemas) == (5, False)
    assert (first.strategy, first.tool_threshold) == ("hybrid", 0.1)
    # A mode that nobody asked for is left to the deployment.
    assert "mode" not in first.model_fields_set


def test_latency_is_that_of_the_searches() -> None:
    world = World(FOUND, takes_s=0.25)
    assert ask(world.search, QUESTIONS, {}, clock=world.clock).latency_ms() == {"p50": 250.0, "p95": 250.0}


def test_degraded_answers_are_counted_by_what_failed() -> None:
    world = World(FOUND, degraded=["embedding_unavailable"])
    assert ask(world.search, QUESTIONS, {}).degraded() == {"embedding_unavailable": 6}


def test_servers_come_with_the_least_recall_first() -> None:
    rows = [
        (row.server, row.needs, row.recall_1, row.recall_5) for row in by_server(scorecard().answers, TOOLS.values())
    ]
    assert rows == [
        ("", 1, 0.0, 0.0),
        ("s", 3, pytest.approx(1 / 3), pytest.approx(2 / 3)),  # a of half was not found, b only second
        ("t", 1, 1.0, 1.0),
    ]


def test_a_need_that_several_servers_serve_counts_for_each() -> None:
    world = World({"both": "a"})
    answers = ask(world.search, [question("both", "ac")], {}).answers
    assert [(row.server, row.recall_5) for row in by_server(answers, TOOLS.values())] == [("s", 1.0), ("t", 1.0)]


def test_the_worst_come_first_and_then_what_should_have_been_empty() -> None:
    answers = scorecard().answers
    assert [answer.question.query for answer in worst(answers, 10)] == ["lost", "half", "none but found"]
    assert [answer.question.query for answer in worst(answers, 1)] == ["lost"]


def test_what_came_instead_leaves_out_what_is_right() -> None:
    world = World({"half": "bc"})
    [answer] = ask(world.search, [question("half", "a", "c")], {}).answers
    assert unserved(answer) == [frozenset("a")]
    assert instead(answer) == ["s/b"]


def test_identical_settings_differ_by_nothing() -> None:
    found = differences(scorecard(), scorecard(), seed=7)
    assert {(each.mean, each.low, each.high) for each in found.values()} == {(0.0, 0.0, 0.0)}


def test_a_difference_is_positive_where_the_other_is_higher() -> None:
    found = differences(scorecard(), scorecard(lost="d"), seed=7)
    assert found["recall@5"].mean == pytest.approx(0.25)
    assert found["empty"].mean == pytest.approx(-0.25)
    assert found["no_match"].mean == 0.0


def test_the_report_can_be_written_and_is_a_baseline(tmp_path: Path) -> None:
    card = scorecard()
    judged = Judged(tuple(QUESTIONS), {"x/y": "not there"}, 2)
    report = report_of(judged, card, list(TOOLS.values()), other=scorecard(lost="d"))
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report), "utf-8")

    assert (report["requests"], report["answerable"], report["left_out"]) == (6, 4, 2)
    assert report["unknown_tools"] == {"x/y": "not there"}
    assert report["answers"][2] == {
        "where": "q:half",
        "query": "half",
        "needs": [["s/a"], ["t/c"]],
        "came": ["t/c"],
        "no_match": False,
        "confidence_first_five": None,
        "recall@1": 0.5,
        "recall@5": 0.5,
        "ndcg@5": pytest.approx(0.6131, abs=1e-4),
        "elapsed_ms": 1.0,
    }
    assert report["compared"]["measures"]["recall@5"] == 0.875
    assert report["compared"]["differences"]["recall@5"]["mean"] == 0.25
    baseline = read_baseline(file)
    assert (baseline.requests, baseline.measures["recall@5"]) == (6, 0.625)


class TestGate:
    @pytest.mark.parametrize(("floor", "missed"), [(0.61, 0), (0.62, 0), (0.63, 1), (1.0, 1)])
    def test_a_floor_is_missed_below_it(self, floor: float, missed: int) -> None:
        assert len(below_floors({"recall@5": 0.62}, [("recall@5", floor)])) == missed

    def test_each_missed_floor_is_a_line(self) -> None:
        lines = below_floors({"recall@5": 0.5, "comp@5": 0.4}, [("recall@5", 0.8), ("comp@5", 0.41)])
        assert lines == ["recall@5 is 0.5000, below 0.8", "comp@5 is 0.4000, below 0.41"]

    def test_a_floor_of_what_was_not_measured_is_missed(self) -> None:
        [line] = below_floors({"no_match": None}, [("no_match", 0.0)])
        assert line == "no_match cannot be judged: the file has no request with empty needs"

    @pytest.mark.parametrize(
        "text", ["recall=0.8", "recall@5", "recall@5=", "recall@5=80", "recall@5=nan", "empty=0.1", "=1"]
    )
    def test_a_floor_that_makes_no_sense_is_refused(self, text: str) -> None:
        with pytest.raises(LocalError, match="--fail-under"):
            read_floor(text)

    def test_a_floor_is_read(self) -> None:
        assert read_floor("Recall@5=0.80") == ("recall@5", 0.8)

    @pytest.mark.parametrize(("now", "fails"), [(0.9, False), (0.8, False), (0.79, False), (0.789, True)])
    def test_a_baseline_allows_for_the_tolerance_and_no_more(self, tmp_path: Path, now: float, fails: bool) -> None:
        baseline = read_baseline(written(tmp_path, {"requests": 3, "measures": {"recall@5": 0.8}}))
        assert bool(below_baseline({"recall@5": now}, baseline, 0.01)) == fails

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ([], "is not a report"),
            ({"requests": 3}, "measures"),
            ({"requests": 3, "measures": {"recall@5": None}}, "measured no request"),
        ],
    )
    def test_a_file_that_is_no_baseline_is_refused(self, tmp_path: Path, content: object, says: str) -> None:
        with pytest.raises(LocalError, match=says):
            read_baseline(written(tmp_path, content))

    def test_a_baseline_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(LocalError, match="cannot be read"):
            read_baseline(tmp_path / "none.json")


def written(folder: Path, content: object) -> Path:
    file = folder / "baseline.json"
    file.write_text(json.dumps(content), "utf-8")
    return file


def test_bounds_say_what_they_lose_and_refuse_and_lose_no_more_than_they_say() -> None:
    served = [number / 100 for number in range(1, 101)]
    found = bounds(served, [0.005, 0.03, 0.5, 0.9])
    assert [(one.no_match_below, one.lost, one.refused) for one in found] == [
        (0.02, 0.01, 0.25),
        (0.03, 0.02, 0.25),
        (0.06, 0.05, 0.5),
        (0.11, 0.1, 0.5),
    ]
    assert [one.refused for one in bounds(served, [])] == [None] * 4
    assert bounds([], [0.5]) == []
    assert [one.lost for one in bounds([0.123456], [0.1])] == [0.0] * 4


def test_a_scorecard_has_the_bounds_of_answers_that_say_how_sure_they_are() -> None:
    right, wrong = Question("f:1", "a", (frozenset({"s"}),)), Question("f:2", "b", (frozenset({"t"}),))
    nothing = Question("f:3", "c", ())

    def answer(question: Question, confidence: float | None) -> Answer:
        return Answer(question, ("s",), ("a/s",), 1.0, "hybrid", (), is_no_match=False, confidence=confidence)

    card = Scorecard({}, (answer(right, 0.8), answer(wrong, 0.1), answer(nothing, 0.2), answer(right, None)))
    assert [(one.no_match_below, one.refused) for one in card.bounds()] == [(0.8, 1.0)] * 4
    assert Scorecard({}, (answer(right, None),)).bounds() == []
