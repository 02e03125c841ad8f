"""Hints for clients that hold tools back: short, of what the tool does, and never in the place of its server's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue.schemas import read_item
from skillroute_local.connect.catalogue import Item
from skillroute_local.connect.hints import MAX_HINT, hinted, search_hint
from skillroute_local.mcp_servers.model import Listed


def item(description: str, *requests: str) -> Item:
    value = {"name": "log", "description": description}
    content = read_item({**value, "type": "tool", "server": "git"})
    return Item("git/log", "git", Listed("tool", "log", value), content, requests)


@pytest.mark.parametrize(
    ("description", "requests", "hint"),
    [
        ("Shows the commit logs. Newest first.", (), "Shows the commit logs."),
        ("Shows the\tcommit logs\nArgs: path", ("what changed last?",), "Shows the commit logs; what changed last?"),
        ("", ("what changed last?",), "what changed last?"),
        ("", (), ""),
        ("Log. " + "x" * 500, ("a" * 100, "b" * 200), f"Log.; {'a' * 100}"),
    ],
)
def test_a_hint_is_the_first_sentence_and_the_known_requests(
    description: str, requests: tuple[str, ...], hint: str
) -> None:
    assert search_hint(item(description, *requests)) == hint


@given(st.text(max_size=600).filter(str.isprintable), st.lists(st.text(max_size=200), max_size=8))
def test_a_hint_is_one_short_line(description: str, requests: list[str]) -> None:
    hint = search_hint(item(description, *(" ".join(request.split()) for request in requests)))
    assert len(hint) <= MAX_HINT
    assert "\n" not in hint


def test_what_a_server_says_itself_stays() -> None:
    own = {"anthropic/searchHint": "history", "other": 1}
    assert hinted({"name": "log", "_meta": own}, item("Shows logs."), is_pinned=False)["_meta"] == own
    assert hinted({"name": "log"}, item("Shows logs."), is_pinned=True)["_meta"] == {
        "anthropic/searchHint": "Shows logs.",
        "anthropic/alwaysLoad": True,
    }
    assert "_meta" not in hinted({"name": "log"}, item(""), is_pinned=False)
