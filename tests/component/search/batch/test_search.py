"""Several searches in one call: one look at the feed, one call of the model, an answer or an error for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import DatabaseUnavailable, IndexUnavailable, InvalidInput
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import ending_with
from skillroute.core.time.timing import Stopwatch
from skillroute.search.batch.search import Answered, BatchResult, BatchSearch, NotReached
from skillroute.search.model import SearchRequest
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import QUERY, System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at

LONG = "water the plants in the garden, send a letter to the neighbour and then schedule a meeting with John"


@pytest.fixture
def filled(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(), default_mode="hybrid") as system:
        system.skill("home", at(0.9))
        for number in range(8):
            system.tool(f"tool_{number}", at(0.9 - number / 20), skills=["home"], description=f"Schedule {number}.")
        yield system


def batch(system: System, *requests: Any, caller: Caller = LAPTOP, **limits: Any) -> list[BatchResult]:
    search = system.parts.batch_search
    if limits:
        search = BatchSearch(system.parts.tool_search, system.parts.replica, **limits)
    asked = [SearchRequest(**given) if isinstance(given, dict) else given for given in requests]
    return search(asked, caller, Stopwatch())


def untimed(body: bytes | str) -> Any:
    answer = json.loads(body)
    answer["metadata"] = {key: value for key, value in answer["metadata"].items() if not key.endswith("_ms")}
    return answer


def answered(result: BatchResult) -> Answered:
    assert isinstance(result, Answered), result
    return result


def test_each_answer_is_that_of_the_search_alone(filled: System) -> None:
    requests: list[dict[str, Any]] = [
        {"query": QUERY},
        {"query": LONG, "strategy": "direct", "limit": 3},
        {"query": "letters", "mode": "lexical"},
        {"query": QUERY, "mode": "semantic", "strategy": "hybrid", "explain": True},
        {"query": QUERY, "include_schemas": False, "server": "nowhere"},
    ]
    alone = [filled.search(**request).model_dump_json() for request in requests]
    together = batch(filled, *requests)
    assert [untimed(answered(result).body) for result in together] == [untimed(answer) for answer in alone]


def test_the_model_is_asked_once_and_the_feed_is_looked_at_once(filled: System) -> None:
    filled.search("warm")
    filled.embedder.calls.clear()
    looks = filled.feed.polls
    batch(filled, *({"query": f"{LONG} {number}"} for number in range(10)), {"query": "no vector", "mode": "lexical"})
    [call] = filled.embedder.calls
    assert len(call.texts) == len(set(call.texts))
    assert {f"{LONG} {number}" for number in range(10)} < set(call.texts), "with the clauses of each"
    assert "no vector" not in call.texts
    assert filled.feed.polls == looks + 1


def test_a_batch_sees_what_was_committed_before_it(filled: System) -> None:
    batch(filled, {"query": "warm"})
    filled.tool("newest", at(1.0), description="Just written.")
    [result] = batch(filled, {"query": "newest", "strategy": "direct"})
    assert json.loads(answered(result).body)["tools"][0]["name"] == "newest"


def test_a_refused_text_takes_only_its_own_search_along(filled: System) -> None:
    filled.embedder.refuses = lambda text: "poison" in text
    plain, poisoned = batch(filled, {"query": QUERY}, {"query": "poison"})
    assert answered(plain).metadata.degraded == []
    assert (answered(poisoned).metadata.search_mode, answered(poisoned).metadata.degraded) == (
        "lexical-only",
        ["embedding_unavailable"],
    )


def test_without_the_model_all_go_on_by_words_and_it_is_asked_once(filled: System) -> None:
    filled.embedder.away = True
    results = batch(filled, {"query": "schedule 1"}, {"query": "schedule 2"})
    assert {answered(result).metadata.search_mode for result in results} == {"lexical-only"}
    assert len(filled.embedder.calls) == 1


def test_without_the_index_each_is_answered_as_alone(filled: System) -> None:
    filled.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    filled.index.fail(SKILL_DOCUMENTS, IndexUnavailable("broken"))
    alone = filled.search("water").metadata.degraded
    results = batch(filled, {"query": "water"}, {"query": "plants"})
    assert [answered(result).metadata.degraded for result in results] == [alone, alone]


def test_an_error_is_its_own_searchs_and_the_others_are_answered(filled: System) -> None:
    unreadable = InvalidInput("limit", "is too high")
    first, second, third, last = batch(
        filled, {"query": QUERY}, unreadable, {"query": QUERY, "mode": "hybrid_rerank"}, {"query": "letters"}
    )
    assert second is unreadable
    assert answered(first).metadata.final_count
    # What one of them loses on the way is its own, too.
    assert answered(first).metadata.degraded == []
    assert answered(third).metadata.degraded == ["reranker_unavailable"]
    assert answered(last).metadata.search_mode == "hybrid"


def test_a_database_that_is_away_fails_the_call(filled: System) -> None:
    filled.feed.down = True
    with pytest.raises(DatabaseUnavailable):
        batch(filled, {"query": QUERY})


class Invocation:
    """Lambda's context: the milliseconds that are left."""

    def __init__(self, left_ms: float) -> None:
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> float:
        return self._left_ms


def test_what_there_is_no_time_for_is_named_and_nothing_is_begun(filled: System) -> None:
    assert batch(filled, {"query": QUERY}, {"query": "letters"}, most_s=0.0) == [NotReached("time")] * 2
    with ending_with(Invocation(60_000)):
        assert all(isinstance(result, Answered) for result in batch(filled, {"query": QUERY}, {"query": "letters"}))


def test_a_search_is_begun_where_the_slowest_before_it_would_still_fit(
    filled: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_s = iter([10.0, 4.0, 4.0])  # before the first, after it, before the second
    monkeypatch.setattr(Deadline, "remaining_s", lambda _: next(left_s))
    first, second = batch(filled, {"query": QUERY, "mode": "lexical"}, {"query": "letters", "mode": "lexical"})
    assert isinstance(first, Answered)
    assert second == NotReached("time")


def test_what_there_is_no_room_for_is_named_and_the_next_that_fits_is_answered(filled: System) -> None:
    [one] = batch(filled, {"query": QUERY, "limit": 1})
    small, large, next_small = batch(
        filled,
        {"query": QUERY, "limit": 1},
        {"query": QUERY, "limit": 8},
        {"query": QUERY, "limit": 1},
        room=2 * len(answered(one).body) + 600,
    )
    assert large == NotReached("room")
    assert isinstance(small, Answered)
    assert isinstance(next_small, Answered)


def test_schemas_of_one_search_leave_room_for_the_others(database_url: str, edge_indexes: EdgeIndexes) -> None:
    schema = {"type": "object", "description": "x" * 400_000}
    with lent_system(database_url, edge_indexes) as system:
        for number in range(12):
            system.tool(f"huge_{number}", at(0.9), input_schema=schema)
        system.tool("small", at(0.4), server="little", input_schema={"type": "object"})
        first, *others = batch(
            system,
            {"query": QUERY, "limit": 12},
            *({"query": QUERY, "limit": 1, "server": "little"} for _ in range(5)),
        )
        whole = json.loads(answered(first).body)
        assert 0 < len(whole["metadata"]["schemas_omitted"]) < 12
        assert {json.loads(answered(result).body)["tools"][0]["name"] for result in others} == {"small"}
        assert all(json.loads(answered(result).body)["tools"][0]["input_schema"] for result in others)


def test_organisations_see_their_own_alone(filled: System) -> None:
    filled.tool("theirs", at(1.0), description="Of b.", org="b")
    request = {"query": QUERY, "strategy": "direct", "limit": 50}

    def names(caller: Caller) -> set[str]:
        [result] = batch(filled, request, caller=caller)
        return {tool["name"] for tool in json.loads(answered(result).body)["tools"]}

    assert names(of_org("b")) - names(of_org("a")) == {"theirs"}
