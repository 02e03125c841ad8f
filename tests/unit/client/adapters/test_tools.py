"""Names and schemas of tools as models get them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute_client.adapters.tools import MAX_NAME, AgentTool, model_name, object_schema, search_arguments
from skillroute_client.models import FoundTool, Tool

PARTS = st.text(alphabet=st.sampled_from("ab_-. é/"), min_size=1, max_size=40)


def test_a_name_is_the_servers_and_the_tools() -> None:
    assert model_name("github", "create_issue") == "github__create_issue"
    assert model_name(None, "create_issue") == "create_issue"


@given(st.lists(st.tuples(st.none() | PARTS, PARTS), min_size=2, max_size=20, unique=True))
def test_names_are_what_models_take_and_no_two_tools_share_one(tools: list[tuple[str | None, str]]) -> None:
    names = [model_name(server, name) for server, name in tools]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) and len(name) <= MAX_NAME for name in names)
    assert len(set(names)) == len(names)
    assert names == [model_name(server, name) for server, name in tools]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a__b", "c"), ("a", "b__c")),
        (("a", "_b"), ("a_", "b")),
        ((None, "a__b"), ("a", "b")),
        (("a.b", "c"), ("a/b", "c")),
        (("a", "b" * 80), ("a", "b" * 81)),
    ],
)
def test_tools_whose_names_look_alike_are_told_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert model_name(*one) != model_name(*other)


def test_what_is_listed_and_what_is_found_is_one_tool() -> None:
    listed = Tool(id=7, name="send", server="mail", description="Send.", input_schema=None)
    found = FoundTool(id="x", db_id=7, name="send", server="mail", description="Send.", score=0.5)
    assert AgentTool.of(listed) == AgentTool.of(found)
    assert AgentTool.of(listed).input_schema == {"type": "object", "properties": {}}
    assert object_schema({"type": "object", "required": ["to"]}) == {
        "type": "object",
        "properties": {},
        "required": ["to"],
    }


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [({}, 5), ({"limit": 3}, 3), ({"limit": 999}, 50), ({"limit": 0}, 5), ({"limit": True}, 5), ({"limit": "3"}, 5)],
)
def test_what_a_model_asks_for(arguments: dict[str, object], limit: int) -> None:
    assert search_arguments({"query": "write", **arguments}, 5) == ("write", None, limit)


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ({"needs": ["read", "write"]}, (None, ["read", "write"], 5)),
        ({"needs": ["read", " ", 3, None], "query": "both"}, ("both", ["read"], 5)),
        ({"needs": ["read"] * 4}, (None, ["read"] * 4, 8)),
        ({"needs": ["read"] * 9}, (None, ["read"] * 9, 10)),
        ({"needs": ["read"] * 9, "limit": 3}, (None, ["read"] * 9, 3)),
        ({"needs": "read", "query": "write"}, ("write", None, 5)),
    ],
)
def test_needs_of_a_model_are_asked_for_with_two_places_each(arguments: dict[str, object], asked: object) -> None:
    assert search_arguments(arguments, 5) == asked


@pytest.mark.parametrize("arguments", [None, {}, {"query": " "}, {"query": 3}, "write", {"needs": [" "]}])
def test_a_search_for_nothing_is_refused(arguments: object) -> None:
    with pytest.raises(ValueError, match="need a query"):
        search_arguments(arguments, 5)
