"""Keys of names: quotes, commas and capitals part no name from its tool."""

from __future__ import annotations

import doctest

import pytest
from skillroute.catalogue import names
from skillroute.catalogue.names import name_key


def test_the_examples_in_its_docstrings_are_true() -> None:
    results = doctest.testmod(names)
    assert (results.attempted, results.failed) == (1, 0)


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


def test_punctuation_within_a_word_stays_however_much_it_is() -> None:
    assert name_key(f"*a{'*' * 300}b*") == f"a{'*' * 300}b"
