"""What a tool says to the index, whatever strangers put into its name and schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue import text as tool_text
from skillroute.catalogue.text import (
    MAX_ARGUMENTS,
    ToolText,
    argument_descriptions,
    argument_names,
    embedding_views,
    lexical_text,
    split_name,
)
from skillroute.core.embedding.views import VIEW_WEIGHTS

texts = st.text(max_size=30)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getHealthWorkforce", "get health workforce"),
        ("list_EC2Instances", "list ec2 instances"),
        ("HTTPServer", "http server"),
        ("createGitHubIssue", "create github issue"),
        ("a--b__c.d/e", "a b c d e"),
        ("búsquedaRápida", "búsqueda rápida"),
        ("搜索", "搜索"),
        ("", ""),
        ("___", ""),
    ],
)
def test_a_name_is_split_where_its_words_end(name: str, words: str) -> None:
    assert split_name(name) == words


@given(texts)
def test_splitting_loses_no_letter(name: str) -> None:
    def letters(text: str) -> list[str]:
        return sorted(c for c in text.lower() if c.isascii() and c.isalnum())

    assert letters(split_name(name)) == letters(name)


@given(texts, texts, st.lists(texts, max_size=3), st.lists(texts, max_size=3), st.none() | texts)
def test_every_tool_has_a_view_of_each_kind_and_words_on_one_line(
    name: str, description: str, names: list[str], descriptions: list[str], server: str | None
) -> None:
    said = ToolText(name or "x", description, names, descriptions, server)
    views = embedding_views(said)
    assert len(views) == len(VIEW_WEIGHTS)
    assert all(views)
    assert "\n" not in lexical_text(said)
    assert embedding_views(said) == views


def test_the_words_hold_the_raw_name_too() -> None:
    words = lexical_text(ToolText("sendMail", "Sends.", ["toAddress"], ["Who gets it"], "gmail-mcp")).split()
    assert {"sendMail", "send", "mail", "Sends.", "to", "address", "gets", "gmail"} <= set(words)
    assert "mcp" not in words


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": None},
        {"properties": []},
        {"properties": {"a": True}},
        {"properties": {"a": {"description": 3}}},
    ],
)
def test_a_schema_that_describes_nothing_says_nothing(schema: dict[str, Any] | None) -> None:
    assert argument_descriptions(schema) == []
    assert argument_names(schema) in ([], ["a"])


def test_arguments_come_in_the_schema_s_order() -> None:
    schema = {"properties": {"z": {"description": "last"}, "a": {"description": "first"}}}
    assert argument_names(schema) == ["z", "a"]
    assert argument_descriptions(schema) == ["last", "first"]


def test_of_a_schema_with_thousands_of_arguments_the_first_are_read() -> None:
    schema = {"properties": {f"a{number}": {"description": str(number)} for number in range(1_000)}}
    assert argument_names(schema) == [f"a{number}" for number in range(MAX_ARGUMENTS)]
    assert argument_descriptions(schema) == [str(number) for number in range(MAX_ARGUMENTS)]
    assert argument_names({"properties": {"x" * 9_000: {}}}) == ["x" * MAX_ARGUMENTS]


def test_what_is_embedded_and_what_words_are_counted_in_is_bounded() -> None:
    said = ToolText("name", "word " * 50_000, ["argument"], ["word " * 50_000])
    assert len(embedding_views(said)[0]) == 8_000
    assert len(lexical_text(said)) == 64_000


def test_the_examples_in_the_documentation_are_true() -> None:
    import doctest

    assert doctest.testmod(tool_text).failed == 0
