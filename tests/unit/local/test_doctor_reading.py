"""What the doctor asks a Skillroute, and what it makes of answers that are incomplete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from skillroute_local.client import Client
from skillroute_local.doctor import Asked, Tool
from skillroute_local.doctor.searches import MAX_QUERY_LENGTH, first_of, rank_of, request_of
from skillroute_local.doctor_reading import read_catalogue, search_for
from skillroute_local.errors import Refused

Row = dict[str, Any]


def hit(id_: int, *duplicates: int, server: str | None = "web") -> Row:
    others = [{"db_id": other} for other in duplicates]
    return {"tool_id": id_, "server": server, "name": f"tool_{id_}", "duplicates": others}


def answer(*hits: Row, degraded: Sequence[str] = (), mode: str = "hybrid") -> Row:
    return {
        "answer": {"tools": list(hits), "metadata": {"degraded": list(degraded), "search_mode": mode}},
        "error": None,
    }


def error(code: str) -> Row:
    return {"answer": None, "error": {"status": 503, "code": code, "detail": "..."}}


class Answering:
    """A client whose batches are answered by a function of a search and its place in the batch."""

    def __init__(self, reply: Callable[[Row, int], Row]) -> None:
        self._reply = reply
        self.batches: list[list[Row]] = []

    def search_batch(self, searches: list[Row]) -> list[Row]:
        self.batches.append(searches)
        return [self._reply(search, place) for place, search in enumerate(searches)]


class Changing:
    """A client whose second Agent Skill is gone when its file is asked for."""

    def __init__(self, status: int) -> None:
        self._status = status

    def page(self, resource: str, *, limit: int, offset: int, where: Row) -> tuple[list[Row], int]:
        if resource != "agent_skills" or offset:
            return [], 0
        shared = {"is_active": True, "description": "Does it.", "frontmatter": {}}
        files = [{"path": "SKILL.md", "digest": "sha256:"}]
        return [{"id": id_, "path": f"s{id_}", "name": f"s{id_}", "files": files, **shared} for id_ in (1, 2)], 2

    def agent_skill_file(self, agent_skill_id: int, digest: str) -> bytes:
        if agent_skill_id == 2:
            raise Refused("gone", status=self._status, detail="gone")
        return b"---\nname: s1\n---\nBody."


def test_an_agent_skill_that_goes_while_it_is_read_is_left_out() -> None:
    found = read_catalogue(cast("Client", Changing(404))).agent_skills
    assert [(skill.path, skill.body) for skill in found] == [("s1", "Body.")]
    with pytest.raises(Refused):
        read_catalogue(cast("Client", Changing(503)))


def tools(count: int) -> list[Tool]:
    return [Tool(number, "web", f"tool_{number}", description=f"number {number}") for number in range(1, count + 1)]


def id_of(search: Row) -> int:
    return int(search["query"].split()[1])


def searched(client: Answering, some: Sequence[Tool], steps: list[int] | None = None) -> Any:
    return search_for(cast("Client", client), some, (steps if steps is not None else []).append)


def test_twenty_are_asked_in_a_call_and_each_is_counted_once() -> None:
    client, steps = Answering(lambda search, _: answer(hit(id_of(search)))), list[int]()
    found = searched(client, tools(45), steps)
    assert [len(batch) for batch in client.batches] == [20, 20, 5]
    assert found.asked == {number: Asked(1) for number in range(1, 46)}
    assert (found.not_asked, sum(steps)) == ({}, 45)


def test_tools_without_a_description_are_not_asked_for() -> None:
    client = Answering(lambda search, _: answer(hit(id_of(search))))
    assert searched(client, [Tool(1, "web", "a"), Tool(2, "web", "b", description="TODO")]).asked == {}
    assert client.batches == []


def test_what_a_call_did_not_come_to_is_asked_in_a_smaller_one() -> None:
    client = Answering(lambda search, place: answer(hit(id_of(search))) if place < 3 else error("not_begun"))
    steps = list[int]()
    found = searched(client, tools(20), steps)
    assert len(found.asked) == 20
    assert found.not_asked == {}
    assert sum(steps) == 20
    assert [len(batch) for batch in client.batches][:4] == [20, 10, 5, 2]


def test_one_that_no_call_comes_to_is_given_up() -> None:
    client = Answering(lambda search, _: error("not_begun") if id_of(search) == 2 else answer(hit(id_of(search))))
    found = searched(client, tools(3))
    assert set(found.asked) == {1, 3}
    assert found.not_asked == {2: "the search failed: not_begun"}


def test_a_search_that_fails_or_is_degraded_says_nothing() -> None:
    replies = {1: error("database_unavailable"), 2: answer(degraded=["embedding_unavailable"])}
    client = Answering(lambda search, _: replies.get(id_of(search)) or answer(hit(3), degraded=["schema_load_failed"]))
    found = searched(client, tools(3))
    assert found.not_asked == {
        1: "the search failed: database_unavailable",
        2: "the search was degraded: embedding_unavailable",
    }
    assert found.asked == {3: Asked(1)}


def test_one_that_is_missed_is_asked_for_deeper_and_without_skills() -> None:
    others = [hit(number) for number in range(100, 106)]

    def reply(search: Row, _: int) -> Row:
        if search.get("strategy") == "direct":
            return answer(others[0], hit(1))
        return answer(*others, hit(1)) if search["limit"] == 50 else answer(*others[:5])

    client = Answering(reply)
    assert searched(client, tools(1)).asked == {1: Asked(7, 2, ("web/tool_100", "web/tool_101", "web/tool_102"))}
    first, deep, direct = (batch[0] for batch in client.batches)
    assert (first["limit"], "skill_limit" in first, "strategy" in first) == (5, False, False)
    # As many skills as the first search matched in this mode: five results, five skills.
    assert (deep["limit"], deep["skill_limit"]) == (50, 5)
    assert (direct["limit"], direct["strategy"]) == (50, "direct")


def test_other_modes_match_the_same_skills_whatever_the_limit() -> None:
    client = Answering(lambda *_: answer(mode="semantic"))
    assert searched(client, tools(1)).asked == {1: Asked(None)}
    assert "skill_limit" not in client.batches[1][0]


def test_one_that_fails_later_is_not_judged() -> None:
    client = Answering(lambda search, _: error("internal_error") if search["limit"] == 50 else answer())
    found = searched(client, tools(1))
    assert (found.asked, found.not_asked) == ({}, {1: "the search failed: internal_error"})


def test_a_near_duplicate_of_a_result_is_found_with_it() -> None:
    found = answer(hit(7), hit(8, 1))["answer"]
    assert rank_of(tools(1)[0], found) == 2
    assert rank_of(Tool(9, "web", "x"), found) is None
    assert first_of(Tool(7, "web", "x"), answer(hit(7), hit(8, server=None))["answer"]) == ("tool_8",)


def test_a_request_is_as_long_as_it_may_be() -> None:
    long = request_of(Tool(1, "web", "a", description="some  words\n" * 200))["query"]
    assert len(long) <= MAX_QUERY_LENGTH
    assert long.startswith("some words some")
    assert long.endswith(("some", "words"))
    assert len(request_of(Tool(1, "web", "a", description="字" * 2000))["query"]) == MAX_QUERY_LENGTH
