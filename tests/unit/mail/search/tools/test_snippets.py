"""The part of a body that a result shows."""

from __future__ import annotations

import pytest
from skillroute.mail.search.model import SNIPPET
from skillroute.mail.search.tools.snippets import snippet


@pytest.mark.parametrize(
    ("body", "words", "begins", "holds"),
    [
        ("short text", ["text"], "short", "text"),
        ("a " * 500 + "the roses " + "b " * 500, ["roses"], "…a", "the roses b"),
        ("a " * 500 + "Roses " + "b " * 500, ["lilies", "roses"], "…a", "Roses"),
        ("a " * 500, ["roses"], "a a", "a"),
        ("x" * 500 + "-roses", ["roses"], "…", "roses"),
        ("(" * 500 + "a+b", ["a+b"], "…", "a+b"),
        ("", ["roses"], "", ""),
    ],
)
def test_it_is_around_the_first_word_that_is_there(body: str, words: list[str], begins: str, holds: str) -> None:
    found = snippet(body, words)
    assert found.startswith(begins)
    assert holds in found
    assert len(found) <= SNIPPET + 2
