"""`used_with`: the tools that tasks called together with each result, and only those that the caller may see."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.core.errors.model import IndexUnavailable
from skillroute.search.model import SearchRequest

from tests.builders import QUERY, System, of_org
from tests.doubles import at


@pytest.fixture
def tools(system: System) -> dict[str, int]:
    """Tools by name: `first` is found first; what it is used with is not among the results."""
    ids = {name: system.tool(name, at(cosine)) for name, cosine in (("first", 0.9), ("second", 0.8))}
    ids |= {name: system.tool(name, at(0.0), server="desk") for name in ("print", "fold", "post", "stamp")}
    return ids | {"theirs": system.tool("theirs", at(0.0), org="b")}


def together(system: System, tools: dict[str, int], *others: str, org: str | None = "a") -> None:
    """Let tasks of an organisation call `first` with others, each once more than the next."""
    state = system.learned(org=org, model=str(system.embedder.model))
    for place, other in enumerate(others):
        system.rows(
            "INSERT INTO mcp.learned_pairs (state_id, tool_id, with_id, searches) VALUES (:state, :one, :other, :n)",
            state=state,
            one=tools["first"],
            other=tools[other],
            n=9 - place,
        )
    system.parts.live_states._known.clear()


def found(system: System, org: str | None = "a", **request: Any) -> list[dict[str, Any]]:
    fields = {"strategy": "direct", "limit": 2, "used_with": True, **request}
    query = fields.pop("query", QUERY)
    tools: list[dict[str, Any]] = system.search(query, caller=of_org(org), **fields).model_dump()["tools"]
    return tools


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_a_result_names_what_is_used_with_it_the_most_frequent_first(
    system: System, tools: dict[str, int], mode: str
) -> None:
    together(system, tools, "post", "print", "second", "fold")
    first = next(tool for tool in found(system, query="first, second", mode=mode) if tool["name"] == "first")
    assert [(each["name"], each["searches"]) for each in first["used_with"]] == [
        ("post", 9),
        ("print", 8),
        ("second", 7),
    ]
    post = tools["post"]
    assert first["used_with"][0] == {"tool_id": post, "id": str(post), "name": "post", "server": "desk", "searches": 9}
    assert first["used_with"][2]["server"] is None


def test_one_without_any_has_an_empty_list(system: System, tools: dict[str, int]) -> None:
    assert [tool["used_with"] for tool in found(system)] == [[], []]


def test_another_organisations_tasks_are_not_told(system: System, tools: dict[str, int]) -> None:
    """Decision 44."""
    together(system, tools, "post")
    assert [found(system, org)[0]["used_with"] for org in ("b", None)] == [[], []]


def test_tasks_of_the_global_catalogue_are_told_to_everyone(system: System, tools: dict[str, int]) -> None:
    together(system, tools, "post", org=None)
    assert [len(found(system, org)[0]["used_with"]) for org in ("a", "b", None)] == [1, 1, 1]


def test_tools_that_the_caller_may_not_see_or_that_are_off_are_not_named(system: System, tools: dict[str, int]) -> None:
    """Decision 44: what cannot be found takes no place among the three either."""
    together(system, tools, "theirs", "post", "print", "fold", "stamp")
    system.parts.catalogue.switch(tools["post"], of_org(None), is_active=False)
    system.parts.live_states._known.clear()
    assert [each["name"] for each in found(system)[0]["used_with"]] == ["print", "fold", "stamp"]


def test_what_does_not_ask_for_it_does_not_have_the_field(system: System, tools: dict[str, int]) -> None:
    plain, explained = found(system, used_with=False), found(system, used_with=False, explain=True)
    together(system, tools, "post")
    assert (found(system, used_with=False), found(system, used_with=False, explain=True)) == (plain, explained)
    assert not any("used_with" in tool for tool in [*plain, *explained])
    assert [tool | {"used_with": None} for tool in explained] == [
        tool | {"used_with": None} for tool in found(system, explain=True)
    ]


def test_with_needs_each_tool_has_it_too(system: System, tools: dict[str, int]) -> None:
    together(system, tools, "post")
    answer = system.search(None, caller=of_org("a"), needs=[QUERY, "else"], used_with=True, mode="semantic")
    by_name = {tool["name"]: tool["used_with"] for tool in answer.model_dump()["tools"]}
    assert [each["name"] for each in by_name["first"]] == ["post"]


def test_format_mcp_has_no_place_for_it() -> None:
    with pytest.raises(ValidationError, match="leave used_with or the format out"):
        SearchRequest(query=QUERY, format="mcp", used_with=True)


def test_while_it_cannot_be_read_the_answer_says_so_once(system: System, tools: dict[str, int]) -> None:
    system.search()
    system.database.down = True
    answer = system.search(caller=of_org("a"), used_with=True, include_schemas=False, mode="hybrid", strategy="direct")
    assert answer.metadata.degraded == ["learned_unavailable"]
    assert [tool["used_with"] for tool in answer.model_dump()["tools"]][:2] == [[], []]


def test_where_the_index_fails_at_it_the_results_stay(
    system: System, tools: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    together(system, tools, "post")
    asked, payloads = [], system.index.payloads

    def failing(collection: Any, keys: Any) -> Any:
        asked.append([*keys])
        if asked[-1] == [str(tools["post"])]:
            raise IndexUnavailable("gone")
        return payloads(collection, keys)

    monkeypatch.setattr(system.index, "payloads", failing)
    answer = system.search(caller=of_org("a"), used_with=True, strategy="direct", limit=2)
    assert ([tool.name for tool in answer.tools], answer.metadata.degraded) == (
        ["first", "second"], ["learned_unavailable"],
    )  # fmt: skip
