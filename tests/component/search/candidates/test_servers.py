"""`server` limits a tool search to the items of some MCP servers; hits say what the registry has of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError
from skillroute.search.answer.explanation import LimitedSearchResponse
from skillroute.search.model import SearchRequest, Strategy

from tests.builders import QUERY, System, lent_system, of_org
from tests.component.registry.search.searched import Registry
from tests.doubles import EdgeIndexes, at

A, B = of_org("a"), of_org("b")
STRATEGIES = get_args(Strategy)


@pytest.fixture
def servers(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """Many near tools of one server, and a few of others further away, with one skill each."""
    with lent_system(database_url, edge_indexes) as system:
        for skill in ("home", "away"):
            system.skill(skill, at(0.9))
        for number in range(12):
            system.tool(f"near_{number}", at(0.8), skills=["home"], server="home")
        system.tool("far", at(0.5), skills=["away"], server="away", annotations={"readOnlyHint": True})
        system.tool("bare", at(0.45), server="bare")
        system.tool("theirs", at(0.7), skills=["home"], server="theirs", org="b")
        yield system


def found(system: System, **request: Any) -> LimitedSearchResponse:
    answer = system.search(QUERY, **request)
    assert isinstance(answer, LimitedSearchResponse)
    return answer


def names(answer: LimitedSearchResponse) -> list[str]:
    return [tool.name for tool in answer.tools]


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_server_limits_within_the_index_so_that_no_answer_comes_back_short(
    servers: System, strategy: str, mode: str
) -> None:
    request = {"strategy": strategy, "mode": mode, "limit": 3}
    assert len(names(found(servers, server="home", **request))) == 3
    assert names(found(servers, server="away", **request)) == ["far"]
    assert set(names(found(servers, server=["away", "bare"], **request))) <= {"far", "bare"}
    assert names(found(servers, server=["bare"], **request)) == ["bare"], "no skill of another server stands before it"
    tools, _ = servers.parts.tool_search.tools(QUERY, of_org(None), servers=["away", "bare"])
    assert [tool.name for tool in tools] == ["far", "bare"]


def test_the_path_of_the_registry_names_a_server_as_well(servers: System) -> None:
    assert names(found(servers, server="/away")) == ["far"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_unknown_server_gives_an_empty_answer_that_names_it(servers: System, strategy: str) -> None:
    answer = found(servers, server=["nowhere"], strategy=strategy)
    assert (names(answer), answer.unknown_servers, answer.metadata.no_match) == ([], ["nowhere"], True)
    assert answer.metadata.degraded == []
    some = found(servers, server=["nowhere", "away"], strategy=strategy)
    assert (names(some), some.unknown_servers) == (["far"], ["nowhere"])
    assert found(servers, server="away", strategy=strategy).unknown_servers == []


def test_another_organisations_server_is_as_unknown_as_none(servers: System) -> None:
    for caller in (A, of_org(None)):
        answer = found(servers, server="theirs", caller=caller)
        assert (names(answer), answer.unknown_servers) == ([], ["theirs"])
    assert names(found(servers, server="theirs", caller=B)) == ["theirs"]


def test_who_names_no_server_gets_the_answer_of_before(servers: System) -> None:
    assert not isinstance(servers.search(QUERY, explain=True), LimitedSearchResponse)


@pytest.mark.parametrize("server", ["", [], ["x"] * 21, ["x", ""], "x\0", 7, "x" * 258])
def test_names_of_servers_have_limits(server: Any) -> None:
    with pytest.raises(ValidationError):
        SearchRequest(query=QUERY, server=server)


def test_hits_say_what_the_registry_has_of_their_server(servers: System) -> None:
    registry = Registry(servers)
    registry.server("/home", at(0.1), name="Home")
    registry.server("/away", at(0.1), name="Away", org="b")  # of another organisation than the tool

    def server_of(name: str, server: str) -> tuple[str | None, bool | None]:
        [tool] = [tool for tool in found(servers, server=server, caller=B, limit=50).tools if tool.name == name]
        return tool.server_path, tool.server_is_enabled

    assert server_of("near_0", "home") == ("/home", True)
    assert server_of("far", "away") == (None, None)
    tools, _ = servers.parts.tool_search.tools(QUERY, B, servers=["home"])
    assert {(tool.server_path, tool.server_is_enabled) for tool in tools} == {("/home", True)}


def test_hits_have_the_number_of_their_item_and_its_annotations(servers: System) -> None:
    [tool] = found(servers, server="away").tools
    assert (tool.tool_id, str(tool.tool_id), tool.annotations) == (tool.db_id, tool.id, {"readOnlyHint": True})
    [match], run = servers.parts.tool_search.tools(QUERY, of_org(None), servers=["away"])
    assert (match.tool_id, match.annotations, run.degraded) == (tool.tool_id, {"readOnlyHint": True}, [])
    near, _ = servers.parts.tool_search.tools(QUERY, of_org(None), servers=["home"])
    assert {tool.annotations for tool in near} == {None}  # type: ignore[type-var]
