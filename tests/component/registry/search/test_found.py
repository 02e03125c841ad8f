"""What a registry search finds and gives back: result structure, tools on their own, filters (decisions 24 to 26).

Source: registry-search-design, Search Flow and Result Structure.
"""

from __future__ import annotations

import random

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS

from tests.builders import System, of_org
from tests.component.registry.search.searched import Registry
from tests.doubles import at

LONG = " ".join(f"word{number}" for number in range(1000))


@pytest.fixture
def registry(system: System) -> Registry:
    return Registry(system)


# Result structure


def test_a_server_is_given_back_with_its_matching_tools(registry: Registry) -> None:
    tools = [("query-docs", "Finds pages.", at(0.6)), ("zip", "Packs.", at(0.1))]
    id_ = registry.server(
        "/context7", at(0.5), name="Context7", description="Library docs.", tags=("Docs", "code"), tools=tools
    )
    (server,) = registry.search("context7").servers
    assert server.model_dump() == {
        "id": id_,
        "path": "/context7",
        "server_name": "Context7",
        "description": "Library docs.",
        "tags": ["Docs", "code"],
        "is_enabled": True,
        "num_tools": 2,
        "relevance_score": 1.0,
        "matching_tools": [
            {
                "tool_id": 1,
                "tool_name": "query-docs",
                "description": "Finds pages.",
                "annotations": None,
                "relevance_score": pytest.approx(0.8),
            }
        ],
    }


def test_a_tool_is_given_back_with_its_schema_and_its_server(registry: Registry) -> None:
    registry.server("/context7", at(0.5), name="Context7", tools=[("query-docs", "Finds pages.", at(0.6))])
    (tool,) = registry.search("context7").tools
    assert tool.model_dump() == {
        "db_id": 1,
        "tool_id": 1,
        "server_path": "/context7",
        "server_is_enabled": True,
        "annotations": None,
        "server_name": "Context7",
        "tool_name": "query-docs",
        "description": "Finds pages.",
        "inputSchema": {"title": "query-docs"},
        "relevance_score": pytest.approx(0.8),
    }


def test_an_agent_is_given_back_with_its_card(registry: Registry) -> None:
    card = {"name": "Writer", "url": "https://agents.test/writer", "x": [1, None]}
    skills = [("write", "Writes."), ("read", "Reads.")]
    id_ = registry.agent(
        "/writer", at(0.5), name="Writer", description="Writes.", tags=("Text",), skills=skills, document=card
    )
    (agent,) = registry.search("anything").agents
    assert agent.model_dump() == {
        "id": id_,
        "path": "/writer",
        "agent_name": "Writer",
        "description": "Writes.",
        "tags": ["Text"],
        "skills": ["write", "read"],
        "is_enabled": True,
        "relevance_score": pytest.approx(0.75),
        "agent_card": card,
    }


def test_the_metadata_says_what_was_looked_for_and_how_long_it_took(registry: Registry) -> None:
    registry.server("/x", at(0.5), tags=("docs", "code"), tools={"needle": at(0.5)})
    answer = registry.search("find the needle #docs", tags=["Code"])
    assert (answer.query, answer.search_mode, answer.explain) == ("find the needle #docs", "hybrid", None)
    metadata = answer.metadata.model_dump()
    times = {name: metadata.pop(name) for name in list(metadata) if name.endswith("_time_ms")}
    assert times.pop("rerank_time_ms") == 0.0
    assert metadata == {
        "keywords": ["needle"],
        "tags": ["code", "docs"],
        "fusion": "boost",
        "index": "embedded",
        "degraded": [],
        "schemas_omitted": [],
        "cards_omitted": [],
        "descriptions_cut": False,
        "explain_omitted": 0,
        "candidate_count": 1,
    }
    assert len(times) == 7
    assert all(time > 0.0 for time in times.values())


@pytest.mark.parametrize("type_", ["mcp_server", "tool", "a2a_agent"])
def test_only_the_types_that_were_asked_for_are_returned(registry: Registry, type_: str) -> None:
    registry.server("/s", at(0.5), tools={"t": at(0.5)})
    registry.agent("/a", at(0.5))
    answer = registry.search("anything", entity_types=[type_])
    found = {"mcp_server": answer.servers, "tool": answer.tools, "a2a_agent": answer.agents}
    assert {name for name, results in found.items() if results} == {type_}


def test_an_agent_and_a_server_may_have_one_path(registry: Registry) -> None:
    registry.server("/same", at(0.5), name="Server")
    registry.agent("/same", at(0.4), name="Agent")
    answer = registry.search("same")
    assert [server.server_name for server in answer.servers] == ["Server"]
    assert [agent.agent_name for agent in answer.agents] == ["Agent"]


# Tools, each on its own


def test_tools_are_graded_on_their_own_and_not_by_their_server(registry: Registry) -> None:
    registry.server("/best", at(0.9), tools={"plain": at(0.31), "not_alike": at(0.1)})
    registry.server("/second", at(0.8), tools={"needle": at(0.2), "close": at(0.7)})
    tools = registry.search("needle", max_results=9).tools
    assert [(tool.tool_name, tool.relevance_score) for tool in tools] == [
        ("close", pytest.approx(0.85, abs=1e-6)),
        ("needle", pytest.approx(0.7, abs=1e-6)),
        ("plain", pytest.approx(0.655, abs=1e-6)),
    ]


@pytest.mark.parametrize(("cosine", "matches"), [(0.3, True), (0.299, False)])
def test_a_tool_without_a_keyword_matches_from_a_cosine_of_0_3_on(
    registry: Registry, cosine: float, matches: bool
) -> None:
    registry.server("/x", at(0.9), tools={"tool": at(cosine)})
    answer = registry.search("anything")
    assert bool(answer.tools) is bool(answer.servers[0].matching_tools) is matches


def test_a_tool_counts_1_for_each_keyword_and_one_without_a_vector_has_cosine_0(registry: Registry) -> None:
    tools = [("needle", "And thread.", at(0.2)), ("thread", "", None)]
    registry.server("/x", at(0.9), tools=tools)
    figures = registry.figures("needle thread")
    assert (figures["/x/needle"].text_boost, figures["/x/thread"].text_boost) == (2.0, 1.0)
    assert figures["/x/needle"].unclamped == pytest.approx(0.8, abs=1e-6)
    assert figures["/x/thread"].unclamped == pytest.approx(0.6, abs=1e-9)


def test_a_tool_is_found_in_a_server_that_is_not_returned_itself(registry: Registry) -> None:
    registry.server("/first", at(0.9), tools={"other": at(0.4)})
    registry.server("/second", at(0.5), tools={"right": at(0.95)})
    answer = registry.search("anything", max_results=1)
    assert [server.path for server in answer.servers] == ["/first"]
    assert [(tool.server_path, tool.tool_name) for tool in answer.tools] == [("/second", "right")]


def test_a_server_names_its_ten_best_tools(registry: Registry) -> None:
    registry.server("/x", at(0.9), tools={f"tool_{number:02}": at(0.4 + number / 100) for number in range(15)})
    (server,) = registry.search("anything").servers
    assert [tool.tool_name for tool in server.matching_tools] == [f"tool_{number:02}" for number in range(14, 4, -1)]


def test_ties_of_tools_go_by_path_then_by_name(registry: Registry) -> None:
    registry.server("/b", at(0.9), tools={"a": at(0.5)})
    registry.server("/a", at(0.8), tools={"z": at(0.5), "b": at(0.5)})
    assert [(tool.server_path, tool.tool_name) for tool in registry.search("anything").tools] == [
        ("/a", "b"),
        ("/a", "z"),
        ("/b", "a"),
    ]


def test_prompts_and_tools_of_no_server_are_not_found(registry: Registry) -> None:
    registry.server("/x", at(0.9), tools={"tool": at(0.5)})
    registry.system.tool("prompt", at(0.9), server="x", type="prompt")
    registry.system.tool("stray", at(0.9))
    assert [tool.tool_name for tool in registry.search("anything").tools] == ["tool"]


# Tags


@pytest.fixture
def tagged(registry: Registry) -> Registry:
    registry.server("/both", at(0.3), tags=("Docs", "code"), tools={"of_both": at(0.5)})
    registry.server("/docs", at(0.9), tags=("docs",), tools={"of_docs": at(0.9)})
    registry.server("/needle", at(0.9), name="Needle")
    registry.agent("/agent", at(0.9), tags=("CODE", "docs", "web"))
    return registry


@pytest.mark.parametrize(
    ("query", "tags", "servers", "agents"),
    [
        ("needle", ["docs"], ["/docs", "/both"], ["/agent"]),
        ("needle", ["docs", "code"], ["/both"], ["/agent"]),
        ("needle #docs", ["CODE"], ["/both"], ["/agent"]),
        ("needle #Docs #code", [], ["/both"], ["/agent"]),
        ("needle", ["docs", "web"], [], ["/agent"]),
        ("needle", ["doc"], [], []),
        ("needle", ["docs", "absent"], [], []),
        ("#docs", [], ["/docs", "/both"], ["/agent"]),
    ],
)
@pytest.mark.parametrize("away", [False, True])
def test_everything_found_has_all_of_the_tags(
    tagged: Registry, query: str, tags: list[str], servers: list[str], agents: list[str], away: bool
) -> None:
    # GIVEN the words of a tag are in all that is tagged, so that the lexical search finds them, too
    tagged.system.embedder.away = away
    answer = tagged.search(f"{query} code docs" if away else query, tags=tags)
    assert {server.path for server in answer.servers} == set(servers)
    assert {agent.path for agent in answer.agents} == set(agents)
    assert {tool.server_path for tool in answer.tools} <= set(servers)


def test_a_tag_alone_ranks_by_its_words_what_is_tagged_so(registry: Registry) -> None:
    registry.server("/near", at(0.9), tags=("docs",))
    registry.server("/docs", at(0.2), tags=("docs",))
    answer = registry.search("#docs")
    assert [server.path for server in answer.servers] == ["/docs", "/near"]
    assert answer.metadata.keywords == ["docs"]
    assert registry.system.embedder.texts == ["docs"]


# Disabled ones


@pytest.mark.parametrize("away", [False, True])
def test_disabled_ones_are_left_out_unless_asked_for(registry: Registry, away: bool) -> None:
    registry.server("/off", at(0.9), name="Needle", is_enabled=False, tools={"needle": at(0.9)})
    registry.agent("/off", at(0.9), name="Needle", is_enabled=False)
    registry.server("/on", at(0.1), description="A needle.")
    registry.system.embedder.away = away
    answer = registry.search("needle")
    assert [server.path for server in answer.servers] == ["/on"]
    assert (answer.tools, answer.agents) == ([], [])
    answer = registry.search("needle", include_disabled=True)
    assert [(server.path, server.is_enabled) for server in answer.servers] == [("/off", False), ("/on", True)]
    assert [tool.tool_name for tool in answer.tools] == ["needle"]
    assert [agent.is_enabled for agent in answer.agents] == [False]


# Organisations


@pytest.fixture
def shared(registry: Registry) -> Registry:
    """Everybody's server, and one of the same name in each of two organisations."""
    for org, cosine in ((None, 0.7), ("acme", 0.8), ("umbrella", 0.9)):
        registry.server("/needle", at(cosine), name=f"Of {org}", org=org, tools={f"needle_of_{org}": at(cosine)})
        registry.agent("/needle", at(cosine), name=f"Of {org}", org=org)
    return registry


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize(
    ("org", "seen"), [(None, {"None"}), ("acme", {"None", "acme"}), ("umbrella", {"None", "umbrella"}), ("x", {"None"})]
)
def test_a_caller_finds_what_is_global_and_its_own(
    shared: Registry, org: str | None, seen: set[str], away: bool
) -> None:
    shared.system.embedder.away = away
    for explain in (False, True):
        answer = shared.search("needle", caller=of_org(org), explain=explain, max_results=9)
        assert {server.server_name for server in answer.servers} == {f"Of {each}" for each in seen}
        assert {agent.agent_name for agent in answer.agents} == {f"Of {each}" for each in seen}
        assert {tool.tool_name for tool in answer.tools} == {f"needle_of_{each}" for each in seen}
        assert {(s.server_name, *(t.tool_name for t in s.matching_tools)) for s in answer.servers} == {
            (f"Of {each}", f"needle_of_{each}") for each in seen
        }, "to each server its own tools, though all are called needle"


def test_tools_of_a_server_that_others_call_the_same_crowd_nobody_out(registry: Registry) -> None:
    registry.system.tools([(f"crowd_{number}", at(0.9)) for number in range(40)], server="needle", org="acme")
    registry.server("/needle", at(0.5), tools={"right": at(0.4)})
    assert [tool.tool_name for tool in registry.search("it", caller=of_org("acme")).tools] == ["right"]
    figures = registry.figures("it", caller=of_org("acme"), fusion="rrf")
    assert figures["/needle/right"].vector_rank == 1


def test_no_tool_of_others_is_looked_at(registry: Registry) -> None:
    registry.server("/needle", at(0.5), tools={"right": at(0.4)})
    registry.search("it", caller=of_org("acme"))
    (search,) = registry.system.index.searches(TOOL_DOCUMENTS)
    assert search.where is not None
    assert search.where.any_of["org_id"] == ["", "acme"]


# Odd queries


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize(
    "query",
    [
        ".*",
        "(a+)+$",
        "[[:alpha:]]{3}|%_\\",
        "100% _under_ \\d+",
        "'; DROP TABLE mcp.registry_entities; --",
        "$1 :keywords {} %s",
        "the of and is",
        "a",
        "!!!",
        "🚀🔥",
        "rocket 🚀 needle",
        "بحث عن المستندات",
        "Größe 漢字 needle",
        "needle \u202e reversed",
        "x" * 10_000,
        LONG,
        "#" + "t" * 5000,
        " ".join(f"#tag{number}" for number in range(1000)),
    ],
)
def test_no_query_is_an_error(registry: Registry, query: str, away: bool) -> None:
    registry.server("/needle", at(0.5), name="Needle", tools={"needle": at(0.5)})
    registry.agent("/agent", at(0.5))
    registry.system.embedder.away = away
    answer = registry.search(query, explain=True)
    assert answer.search_mode == ("lexical-only" if away else "hybrid")
    if "needle" in query:
        assert answer.servers[0].path == "/needle"
    assert registry.servers("needle") == ["/needle"]


@pytest.mark.parametrize(
    "pattern", ["n.edle", "need%le", "n_edle", "needl[ea]", "(needl|x)e", "^n[a-z]+e$", "need\\\\le"]
)
def test_nothing_of_a_query_is_a_pattern(registry: Registry, pattern: str) -> None:
    registry.server("/x", at(0.5), description="Noodle")
    registry.server("/needle", at(0.5))
    found = registry.figures(pattern)
    literal = any(word in "needle" for word in registry.search(pattern).metadata.keywords)
    assert (found["/x"].text_boost, found["/needle"].text_boost > 0.0) == (0.0, literal)


def test_stop_words_only_find_by_meaning_and_nothing_lexically(registry: Registry) -> None:
    registry.server("/the/of/and", at(0.5), name="The of and is", tools={"the": at(0.1)})
    answer = registry.search("the of and is", explain=True)
    assert [server.path for server in answer.servers] == ["/the/of/and"]
    assert answer.metadata.keywords == []
    assert answer.explain is not None
    assert answer.explain[0].text_boost == 0.0
    registry.system.embedder.away = True
    answer = registry.search("is and of the")
    assert (answer.servers, answer.tools, answer.agents) == ([], [], [])
    assert (answer.search_mode, answer.metadata.candidate_count) == ("lexical-only", 0)


def test_no_more_than_twelve_keywords_are_looked_for(registry: Registry) -> None:
    registry.server("/x", at(0.5), description=LONG)
    words = LONG.split()
    random.Random(5).shuffle(words)
    answer = registry.search(" ".join(words), explain=True)
    assert len(answer.metadata.keywords) == 12
    assert answer.explain is not None
    assert answer.explain[0].text_boost == 24.0


def test_an_empty_registry_answers_with_empty_lists(registry: Registry) -> None:
    answer = registry.search("needle", explain=True)
    assert (answer.servers, answer.tools, answer.agents, answer.explain) == ([], [], [], [])
    assert answer.search_mode == "hybrid"
