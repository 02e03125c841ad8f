"""What of servers and agents is embedded, and which words they are found by (registry-search-design, Entity Types)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from skillroute.registry.model import AgentSkill, EntityContent, ServerTool, tag_key
from skillroute.registry.text import (
    MAX_KEYWORD,
    MAX_WORD,
    EntityText,
    Place,
    PlacedWords,
    embedding_text,
    placed_words,
    words_of,
)

SERVER = EntityContent(
    "server",
    "/path-only",
    "Context7 MCP Server",
    "Up-to-date docs.\nFor any library.",
    tags=("docs", "Code Examples"),
    document={"secret": "metadata only"},
)
TOOLS = (ServerTool(7, "query-docs", "Query the docs."), ServerTool(8, "resolve", ""))
AGENT = EntityContent(
    "agent",
    "/path-only",
    "Planner",
    "Plans upgrades.",
    tags=("coding",),
    capabilities=("streaming", "pushNotifications"),
    skills=(AgentSkill("Plan an upgrade", "Lists what breaks."), AgentSkill("Find usages", "")),
    document={"url": "https://card.only"},
)


def test_of_a_server_name_description_tags_and_each_tool_s_name_and_description_are_embedded() -> None:
    assert embedding_text(EntityText(SERVER, TOOLS)) == (
        "Context7 MCP Server\nUp-to-date docs. For any library.\nTags: docs, Code Examples\n"
        "query-docs: Query the docs.\nresolve"
    )


def test_of_an_agent_name_description_tags_capabilities_and_each_skill_are_embedded() -> None:
    assert embedding_text(EntityText(AGENT)) == (
        "Planner\nPlans upgrades.\nTags: coding\nCapabilities: streaming, pushNotifications\n"
        "Plan an upgrade: Lists what breaks.\nFind usages"
    )


@pytest.mark.parametrize("said", [EntityText(SERVER, TOOLS), EntityText(AGENT)], ids=["server", "agent"])
def test_neither_path_nor_document_nor_ids_are_embedded(said: EntityText) -> None:
    assert not {"path", "only", "metadata", "secret", "7", "8"} & set(words_of(embedding_text(said)).split())


def test_what_is_not_said_leaves_no_trace() -> None:
    assert embedding_text(EntityText(EntityContent("server", "/a", "A"))) == "A"


def test_each_place_has_its_words_and_each_tool_is_a_place() -> None:
    assert list(placed_words(EntityText(SERVER, TOOLS))) == [
        PlacedWords(Place.PATH, None, "only path"),
        PlacedWords(Place.NAME, None, "context7 mcp server"),
        PlacedWords(Place.DESCRIPTION, None, "any date docs for library to up"),
        PlacedWords(Place.TAGS, None, "code docs examples"),
        PlacedWords(Place.TOOL, 7, "docs query the"),
        PlacedWords(Place.TOOL, 8, "resolve"),
    ]


def test_an_agent_s_skills_and_capabilities_are_embedded_but_no_place_of_keywords() -> None:
    assert list(placed_words(EntityText(AGENT))) == [
        PlacedWords(Place.PATH, None, "only path"),
        PlacedWords(Place.NAME, None, "planner"),
        PlacedWords(Place.DESCRIPTION, None, "plans upgrades"),
        PlacedWords(Place.TAGS, None, "coding"),
    ]


def test_a_place_without_words_is_left_out() -> None:
    assert [each.place for each in placed_words(EntityText(EntityContent("server", "/a", "!?", "…")))] == [Place.PATH]


@given(st.text(), st.text(min_size=1))
@example("0 \u00b9:1", "0")  # two words, which are sorted differently beside a third
def test_a_run_of_word_characters_is_in_the_words_exactly_when_it_is_in_the_text(text: str, other: str) -> None:
    for keyword in (text + other)[:3], other[:3]:
        if keyword and " " not in keyword and words_of(keyword) == keyword:
            assert (keyword in words_of(text)) == (keyword in text.lower())


@given(st.text("ab_\u3042", min_size=300, max_size=700), st.data())
def test_a_keyword_is_found_wherever_it_lies_in_a_very_long_word(word: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(word) - 1))
    words = words_of(word)
    assert word[start : start + MAX_KEYWORD] in words
    # AND no stored word is so long that PostgreSQL would take seconds to cut it
    assert max(map(len, words.split())) <= MAX_WORD


def test_the_longest_name_and_the_longest_path_are_one_word() -> None:
    assert words_of("x" * MAX_WORD) == "x" * MAX_WORD


def test_tags_are_compared_without_case_and_blanks() -> None:
    assert tag_key(" Straße ") == tag_key("STRASSE")
