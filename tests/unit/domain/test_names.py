"""Names in queries: both go through the same reading, so quotes, commas and capitals part no name from its tool."""

from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue import names
from skillroute.catalogue.names import LONGEST_KEY, LONGEST_NAME_WORDS, name_key, possible_names


def test_the_examples_in_its_docstrings_are_true() -> None:
    results = doctest.testmod(names)
    assert results.attempted == 2
    assert results.failed == 0


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("create_event", "create_event"),
        ("Create-Event", "create-event"),
        ("@acme/Deploy", "acme/deploy"),
        ("c++", "c"),
        ("_private_", "_private_"),
        ("my  tool", "my tool"),
        (" my\ttool ", "my tool"),
        ("a - b", "a b"),
        ("Straße", "strasse"),
        ("会議", "会議"),
        ("***", "***"),
    ],
)
def test_a_name_s_key_is_its_words_in_lower_case_without_punctuation_at_their_edges(name: str, key: str) -> None:
    assert name_key(name) == key


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("use create_event, please", "create_event"),
        ('run "@acme/deploy"!', "@acme/deploy"),
        ("run acme/deploy", "@acme/deploy"),
        ("compile `c++`.", "c++"),
        ("call (My   Tool) now", "my  tool"),
        ("***", "***"),
        ("CREATE_EVENT", "create_event"),
    ],
)
def test_a_query_contains_the_name(query: str, name: str) -> None:
    assert name_key(name) in possible_names(query)


@pytest.mark.parametrize(("query", "name"), [("create_events", "create_event"), ("deploy", "@acme/deploy")])
def test_a_part_of_a_word_is_not_the_name(query: str, name: str) -> None:
    assert name_key(name) not in possible_names(query)


@given(st.text(max_size=40).filter(lambda name: re.search(r"\w", name.casefold())))
def test_any_name_with_a_word_is_found_however_it_is_quoted(name: str) -> None:
    for query in (name, f"use '{name}', please", f"({name})", name.upper() if name.isascii() else name):
        assert name_key(name) in possible_names(query)


def test_names_are_looked_for_up_to_a_number_of_words() -> None:
    words = [f"w{n}" for n in range(LONGEST_NAME_WORDS + 1)]
    found = possible_names(" ".join(words))
    assert " ".join(words[:-1]) in found
    assert " ".join(words) not in found


def test_a_long_query_gives_a_bounded_number_of_names_each_once() -> None:
    found = possible_names(" ".join(f"w{n}" for n in range(500)))
    assert len(found) <= 200 * LONGEST_NAME_WORDS
    assert len(possible_names("a a a")) == 3


def test_what_is_longer_than_any_name_is_not_looked_for() -> None:
    word = "x" * LONGEST_KEY
    assert possible_names(f"{word} a {word}y b") == [word, "a", "b"]


def test_a_name_of_the_largest_size_is_looked_for_whatever_folding_makes_of_it() -> None:
    name = "\u0390" * 256
    assert name_key(name) in possible_names(f"use {name}, please")


def test_punctuation_within_a_word_stays_however_much_it_is() -> None:
    assert name_key(f"*a{'*' * 300}b*") == f"a{'*' * 300}b"
