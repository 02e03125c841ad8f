"""What a request names: exact names, alone or with their server, and no ordinary words (decision 40)."""

from __future__ import annotations

import doctest
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue import mentions as module
from skillroute.catalogue.mentions import Named, is_ordinary, mentions, plain
from skillroute.catalogue.names import MAX_KEY_LENGTH, MAX_NAME_WORDS, name_key


def named(query: str, *tools: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    """Return those of some tools, by name and server, that a request names."""
    asked = mentions(query)
    called = [Named(str(n), name, server) for n, (name, server) in enumerate(tools)]
    found = asked.named(tool for tool in called if name_key(tool.name) in asked.keys)
    return [tools[int(key)] for key in sorted(found, key=int)]


def names(query: str, name: str) -> bool:
    """Return whether a request names a tool without a server."""
    return bool(named(query, (name, None)))


def test_the_examples_in_its_docstrings_are_true() -> None:
    results = doctest.testmod(module)
    assert (results.attempted, results.failed) == (3, 0)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("use create_event, please", "create_event"),
        ('run "@acme/deploy"!', "@acme/deploy"),
        ("run acme/deploy", "@acme/deploy"),
        ("compile `c++`.", "c++"),
        ("compile with C++, quickly", "c++"),
        ("call 'My   Tool' now", "my  tool"),
        ("***", "***"),
        ("CREATE_EVENT", "create_event"),
        ("what does getWeather do?", "getWeather"),
        ("call e2e and read-file", "read-file"),
        ("page_click,page_type", "page_click"),
        ("(page_click|page_type)", "page_type"),
        ("select:page_type,page_click", "page_click"),
        ("nimm ÜBER_SUCHE", "über_suche"),
        ("use step 2 now", "step 2"),
    ],
)
def test_what_is_no_ordinary_word_is_a_name_wherever_it_stands(query: str, name: str) -> None:
    assert names(query, name)


@pytest.mark.parametrize(
    "query",
    [
        "search", "Search!", " SEARCH ", "use `search`", "use ``search`` now", "say 'search'", 'say "search"',
        "say “search”", "say ‘search’", "sag „search“", "dis «search»", "「search」を使う", "『search』を使う",
        "select:search", "select:search,add", "please select:add,search", "select: add, search", "search, add",
        "add;search",
    ],
)  # fmt: skip
def test_an_ordinary_word_is_a_name_alone_in_a_list_after_select_and_as_code(query: str) -> None:
    assert names(query, "search")


@pytest.mark.parametrize(
    "query",
    [
        "On Shodan, search for IoT devices of type router", "search my mail, create an event", "search the web",
        "don't search John's mail", "search, and be quick about it", "(search) it", "see #search", "@search for me",
        "a search-and-replace", "the type's search", "rock 'n' search 'n' roll",
    ],
)  # fmt: skip
def test_an_ordinary_word_is_no_name_within_a_request(query: str) -> None:
    assert not any(names(query, name) for name in ("search", "type", "create", "mail", "replace"))


def test_a_name_of_several_ordinary_words_is_one_as_all_of_the_request_or_as_code() -> None:
    assert names("weekly report", "Weekly report")
    assert names("send “weekly report” to all", "Weekly report")
    assert not names("send the weekly report to all", "Weekly report")


def test_a_word_in_camel_case_names_what_is_written_just_so() -> None:
    assert names("what does getWeather do?", "getWeather")
    assert not names("put it on GitHub and YouTube", "github")
    assert not names("what does getweather do?", "getWeather")


def test_a_quoted_argument_is_no_name() -> None:
    assert not names("run df.groupBy('country') for me", "country")


def test_scripts_without_case_or_blanks_are_letters_too() -> None:
    assert names("会議", "会議")
    assert names("「会議」を予約して", "会議")
    assert not names("会議 を 予約", "会議")
    assert not names("कृपया मीटिंग बुक करें", "मीटिंग")
    assert names("मीटिंग", "मीटिंग")


@pytest.mark.parametrize(
    "query",
    [
        "pilot/search", "mcp__pilot__search", "pilot:search", "pilot.search", "Pilot/Search",
        "use pilot/search, please",
        "`pilot/search`", "tool:pilot/search", "x_y,pilot/search", "/pilot/search", "pilot__search", "(pilot.search)",
        "ask pilot:search for it", "pilot::search",
    ],
)  # fmt: skip
def test_an_ordinary_name_with_its_server_is_the_tool_of_that_server(query: str) -> None:
    tools = [("search", "pilot"), ("search", "other"), ("search", None)]
    assert named(query, *tools) == [("search", "pilot")]


@pytest.mark.parametrize(
    ("query", "server"),
    [
        ("mcp__Sui_Tools__faucet", "Sui Tools"),
        ("Sui Tools/faucet", "Sui Tools"),
        ("call Sui Tools/faucet once", "Sui Tools"),
        ("a/b, Sui Tools/faucet", "Sui Tools"),
        ("a/b,Sui Tools/faucet", "Sui Tools"),
        ("files/faucet", "/files"),
        ("files/faucet", "io.github.acme/files"),
        ("io.github.acme/files/faucet", "io.github.acme/files"),
        ("sui-tools.faucet", "sui_tools"),
    ],
)
def test_servers_are_compared_without_what_clients_change_of_their_names(query: str, server: str) -> None:
    assert named(query, ("faucet", server), ("faucet", "another")) == [("faucet", server)]


def test_a_prompt_of_several_words_is_named_with_its_server() -> None:
    assert named("get pilot/weekly report now", ("weekly report", "pilot"), ("weekly report", "x")) == [
        ("weekly report", "pilot")
    ]


def test_of_a_server_that_is_not_there_only_what_is_no_ordinary_word_is_named() -> None:
    tools = [("page_type", "other"), ("search", "other"), ("page_type", "third")]
    assert named("mcp__pilot__page_type mcp__pilot__search", *tools) == [("page_type", "other"), ("page_type", "third")]


def test_a_tool_that_is_called_as_the_whole_is_named_before_part_of_it_is_looked_for() -> None:
    tools = [("pilot.page_type", "other"), ("page_type", "third")]
    assert named("pilot.page_type", *tools) == [("pilot.page_type", "other")]


@pytest.mark.parametrize("query", ["pilot/x_y,pilot/page_type", "please answer it with pilot/page_type"])
def test_a_name_whose_server_is_found_is_that_of_no_other_whatever_else_could_be_read(query: str) -> None:
    assert named(query, ("page_type", "pilot"), ("page_type", "other")) == [("page_type", "pilot")]


def test_a_name_that_also_stands_alone_is_that_of_every_server() -> None:
    tools = [("page_type", "pilot"), ("page_type", "other")]
    assert named("page_type, above all pilot/page_type", *tools) == tools


@pytest.mark.parametrize(("query", "name"), [("create_events", "create_event"), ("deploy", "@acme/deploy")])
def test_a_part_of_a_word_is_not_the_name(query: str, name: str) -> None:
    assert not names(query, name)


@pytest.mark.parametrize(
    ("word", "ordinary"),
    [
        ("search?!", True),
        ("it’s", True),
        ("getWeather", True),
        ("PDFs", True),
        ("C#", False),
        ("#tag", True),
        ("", True),
    ],
)
def test_what_is_an_ordinary_word(word: str, ordinary: bool) -> None:
    assert is_ordinary(word) is ordinary


@given(st.text(max_size=40).filter(lambda name: re.search(r"\w", name.casefold())))
def test_any_name_with_a_word_is_one_where_it_is_all_of_the_request(name: str) -> None:
    assert names(name, name)


@given(st.text(alphabet=st.characters(exclude_characters="`\"'“”„‘’‚«»「」『』\n"), min_size=1, max_size=40))
def test_any_name_with_a_word_is_one_as_code(name: str) -> None:
    if re.search(r"\w", name.casefold()) and name == name.strip():
        assert names(f"use `{name}`, please", name)


@given(st.text(max_size=300))
def test_any_text_is_read(query: str) -> None:
    assert all(len(key) <= MAX_KEY_LENGTH for key in mentions(query).keys)


def test_names_are_looked_for_up_to_a_number_of_words() -> None:
    words = [f"w{n}" for n in range(MAX_NAME_WORDS + 1)]
    assert names("use " + " ".join(words[:-1]), " ".join(words[:-1]))
    assert not names("use " + " ".join(words), " ".join(words))


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"w{n}" for n in range(500)), "a/" * 500, "`" * 1000, "'a" * 500, "a.b " * 250, "__" * 500,
        "select:" * 140, "“" * 1000, "a," * 500, "a:b/c.d,e " * 100,
    ],
)  # fmt: skip
def test_a_long_request_is_read_fast_and_gives_a_bounded_number_of_names(query: str) -> None:
    began = time.process_time()
    assert len(mentions(query).keys) <= 200 * MAX_NAME_WORDS * 2
    assert time.process_time() - began < 0.5


def test_what_is_longer_than_any_name_is_not_looked_for() -> None:
    word = "x_" * (MAX_KEY_LENGTH // 2)
    assert not any(len(key) > MAX_KEY_LENGTH for key in mentions(f"{word} a_ {word}y b").keys)


def test_a_name_of_the_largest_size_is_looked_for_whatever_folding_makes_of_it() -> None:
    name = "\u0390" * 256
    assert names(f"use `{name}`, please", name)


def test_servers_have_plain_names() -> None:
    assert plain("Straße-9") == "strasse9"


def test_of_servers_called_nearly_alike_the_one_that_is_written_just_so_counts() -> None:
    tools = [("create_issue", server) for server in ("evil.example/github", "Git-Hub!", "GitHub", "other")]

    assert named("github/create_issue", *tools) == [("create_issue", "GitHub")]
    assert named("use mcp__github__create_issue now", *tools) == [("create_issue", "GitHub")]
    assert named("github/create_issue", *tools[:2]) == [("create_issue", "Git-Hub!")]
    assert named("github/create_issue", tools[0]) == [("create_issue", "evil.example/github")]


def test_a_request_of_separators_alone_has_a_bounded_number_of_readings() -> None:
    asked = mentions(" ".join(f"{number}.b.c.d" for number in range(120)))

    assert len(asked.qualified) <= 32
