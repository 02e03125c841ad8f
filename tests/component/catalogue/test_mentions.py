"""What a request names comes first, in every mode but semantic; ordinary words name nothing (decision 40)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import System
from tests.doubles import at

PILOT = {
    "page_type": "Enter text into an editable element",
    "page_tabs": "List, create, close, or select a page tab of the pilot",
    "page_navigate": "Navigate the page of the pilot to a URL",
    "page_run_code": "Run a pilot code snippet on the page",
    "page_click": "Click an element of the page",
}
RANKED = ["lexical", "hybrid"]
STRATEGIES = ["hierarchical", "direct", "hybrid"]
EXAMPLES = Path(__file__).parents[3] / "examples" / "tools.jsonl"


@pytest.fixture
def pilot(system: System) -> System:
    """Tools of a server in no skill, beside tools in skills."""
    system.skill("mail", at(0.9), description="send email, create events, pages of a pilot")
    system.tool("send_email", at(0.8), skills=["mail"], description="Send an email")
    system.tool("create_event", at(0.8), skills=["mail"], description="Create an event")
    for name, description in PILOT.items():
        system.tool(name, at(0.1), server="pilot", description=description)
    return system


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("pilot/page_type", {"page_type"}),
        ("mcp__pilot__page_type", {"page_type"}),
        ("pilot:page_type", {"page_type"}),
        ("Pilot.page_type", {"page_type"}),
        ("select:page_type,page_click", {"page_type", "page_click"}),
        ("page_click,page_type", {"page_type", "page_click"}),
        ("page_click page_type", {"page_type", "page_click"}),
        ("send_email create_event page_type", {"send_email", "create_event", "page_type"}),
    ],
)
def test_named_tools_come_first_however_they_are_named_and_whatever_their_skills(
    pilot: System, mode: str, strategy: str, query: str, named: set[str]
) -> None:
    assert set(pilot.names(query, mode=mode, strategy=strategy)[: len(named)]) == named


@pytest.fixture
def ordinary(system: System) -> System:
    """Tools of several servers whose names are ordinary words, and one that serves the request."""
    for place, word in enumerate(("search", "create", "download", "type", "add", "retrieve")):
        for server in ("arxiv", "wiki", "shop"):
            system.tool(word, at(0.3 - place / 100), server=server, description=f"{word} in {server}")
    system.tool("host_query", at(0.8), server="shodan", description="IoT devices on the internet, of a type")
    return system


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_ordinary_word_of_a_request_puts_no_tool_first(ordinary: System, mode: str, strategy: str) -> None:
    query = "On Shodan, search for IoT devices of type router"
    assert ordinary.names(query, mode=mode, strategy=strategy)[0] == "host_query"


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("query", ["wiki/search", "mcp__wiki__search", "use wiki:search, please", "see wiki.search"])
def test_an_ordinary_name_is_one_with_its_server_and_then_of_that_server_alone(
    ordinary: System, mode: str, query: str
) -> None:
    answer = ordinary.search(query, mode=mode, strategy="direct", explain=True)
    assert [(tool.name, tool.server) for tool in answer.tools if tool.explain.is_named] == [("search", "wiki")]  # type: ignore[attr-defined]
    assert (answer.tools[0].name, answer.tools[0].server) == ("search", "wiki")


@pytest.mark.parametrize(
    "query", ["search", "Search!", "use `search` on it", "say “search”", "select:search", "search, add"]
)
def test_an_ordinary_name_is_one_where_it_is_all_of_the_request_or_written_as_code(
    ordinary: System, query: str
) -> None:
    assert {"search"} <= set(ordinary.names(query, mode="hybrid", strategy="direct", limit=3)) <= {"search", "add"}


def test_the_tool_of_the_server_that_is_named_comes_before_that_of_another(pilot: System) -> None:
    pilot.tool("page_type", at(0.95), server="other", description="pilot/page_type pilot page_type")
    answer = pilot.search("pilot/page_type", mode="hybrid", strategy="direct")
    assert (answer.tools[0].name, answer.tools[0].server) == ("page_type", "pilot")


def test_a_name_that_is_no_word_is_found_under_a_server_s_other_name(pilot: System) -> None:
    assert pilot.names("mcp__my_own_pilot__page_type", mode="hybrid", strategy="direct")[0] == "page_type"


def test_a_named_tool_stays_behind_the_filter_of_its_server(pilot: System) -> None:
    pilot.tool("page_type", at(0.2), server="other")
    answer = pilot.search("pilot/page_type", mode="hybrid", strategy="direct", server="other")
    assert [(tool.name, tool.server) for tool in answer.tools] == [("page_type", "other")]


FORMS: dict[str, Callable[[str, str], str]] = {
    "name": lambda server, name: name,
    "code": lambda server, name: f"use `{name}` for it",
    "slash": lambda server, name: f"{server}/{name}",
    "mcp": lambda server, name: f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server)}__{name}",
    "colon": lambda server, name: f"{server}:{name}",
    "dot": lambda server, name: f"{server}.{name}",
    "select": lambda server, name: f"select:{name}",
    "sentence": lambda server, name: f"answer it with {server}/{name}",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_tool_of_the_examples_comes_first_where_it_is_named(system: System, form: str) -> None:
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    tools = [tool for tool in map(json.loads, lines) if tool.get("type", "tool") == "tool" and tool.get("server")][:100]
    for place, tool in enumerate(tools):
        system.tool(tool["name"], at(place / len(tools)), server=tool["server"], description=tool["description"])
    queries = [FORMS[form](tool["server"], tool["name"]) for tool in tools]
    assert [system.names(query, mode="hybrid", strategy="direct", limit=1) for query in queries] == [
        [tool["name"]] for tool in tools
    ]
