"""What is looked for, and what is only embedded (registry-search-design, Query Processing)."""

from __future__ import annotations

import doctest
import re

import pytest
from skillroute.catalogue.mentions import Mentions
from skillroute.registry.search import query
from skillroute.registry.search.query import MAX_KEYWORD, MAX_KEYWORDS, STOP_WORDS, keywords, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("context7 docs", ("context7", "docs"), id="the document's example"),
        pytest.param("Query-docs: FAST, please!", ("query", "docs", "fast"), id="case and non-word characters"),
        pytest.param("get_user", ("get_user",), id="an underscore is a word character"),
        pytest.param("the weather is in a city", ("weather", "city"), id="stop words"),
        pytest.param("I need to look up library documentation", ("library", "documentation"), id="how people ask"),
        pytest.param("go to db api", ("api",), id="two characters are too short, three are not"),
        pytest.param("docs Docs DOCS api", ("docs", "api"), id="each once"),
        pytest.param("don't we've", (), id="what an apostrophe leaves"),
        pytest.param("the of and is are", (), id="stop words only"),
        pytest.param("...", (), id="no words"),
        pytest.param("🚀🔥", (), id="emoji"),
        pytest.param("rocket🚀launch", ("rocket", "launch"), id="an emoji parts words"),
        pytest.param("بحث المستندات", ("بحث", "المستندات"), id="right to left"),
        pytest.param("Größe ÉTÉ", ("größe", "été"), id="letters of all alphabets"),
        pytest.param(".* (a+)+$ [x]{3}", (), id="a pattern has no words"),
        pytest.param("'; DROP TABLE tools; --", ("drop", "table", "tools"), id="SQL is words"),
    ],
)
def test_keywords(text: str, expected: tuple[str, ...]) -> None:
    assert keywords(text) == expected


def test_a_very_long_word_is_cut() -> None:
    assert keywords("x" * 1000) == ("x" * MAX_KEYWORD,)


def test_of_many_keywords_the_longest_are_looked_for_in_the_order_of_the_query() -> None:
    words = [f"word{'s' * (number % 20)}{number:04}" for number in range(1000)]
    found = keywords(" ".join(words))
    assert len(found) == MAX_KEYWORDS
    assert found == tuple(word for word in words if word.startswith("word" + "s" * 19))[:MAX_KEYWORDS]


def test_stop_words_are_words_as_keywords_are() -> None:
    assert all(re.fullmatch(r"[a-z]+", word) for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("text", "tags", "embedded", "words", "keys"),
    [
        ("find pages #docs", (), "find pages", ("pages",), ("docs",)),
        ("#docs pages", (), "pages", ("pages",), ("docs",)),
        ("pages", ("Docs", " docs "), "pages", ("pages",), ("docs",)),
        ("pages #Docs", ("Code",), "pages", ("pages",), ("code", "docs")),
        ("pages #docs, please", (), "pages , please", ("pages",), ("docs",)),
        ("pages #docs.", (), "pages .", ("pages",), ("docs",)),
        ("pages #a.b:c/d-e", (), "pages", ("pages",), ("a.b:c/d-e",)),
        ("pages #c++ #c#", (), "pages", ("pages",), ("c++", "c#")),
        ("issue#42 pages", (), "issue#42 pages", ("issue", "pages"), ()),
        ("# pages", (), "# pages", ("pages",), ()),
        ("#🚀 pages", (), "#🚀 pages", ("pages",), ()),
    ],
)
def test_tags_are_taken_out_of_the_query_and_join_the_others(
    text: str, tags: tuple[str, ...], embedded: str, words: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    parsed = parse(text, tags)
    assert (parsed.text, parsed.keywords, parsed.tags) == (embedded, words, keys)


def test_a_query_of_nothing_but_tags_is_ranked_by_their_words() -> None:
    assert parse("#docs #web-search !") == query.ParsedQuery(
        "docs web-search",
        ("docs", "web", "search"),
        ("docs", "web-search"),
        frozenset({"docs", "web-search", "docs web-search"}),
        Mentions(frozenset({"docs web-search", "web-search"}), ()),
    )


def test_a_query_without_tags_is_embedded_as_it_came() -> None:
    assert parse("two  blanks\nand a line").text == "two  blanks\nand a line"


def test_the_examples_are_right() -> None:
    assert doctest.testmod(query).failed == 0
