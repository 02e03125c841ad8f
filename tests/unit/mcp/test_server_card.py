"""The card of `/mcp`."""

from __future__ import annotations

import re

import pytest
from skillroute.mcp.server_card import server_card


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://tools.acme.example/mcp", "example.acme.tools/skillroute"),
        ("http://localhost:3000/mcp", "local/skillroute"),
        ("http://127.0.0.1:3000/mcp", "local/skillroute"),
        ("http://[::1]:3000/mcp", "local/skillroute"),
    ],
)
def test_its_name_is_the_host_in_reverse_form(url: str, name: str) -> None:
    card = server_card(url)
    assert card["name"] == name
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert card["remotes"][0]["url"] == url


def test_it_has_what_connects_and_nothing_of_what_is_behind() -> None:
    assert not {"tools", "resources", "prompts"} & server_card("https://x.example/mcp").keys()
