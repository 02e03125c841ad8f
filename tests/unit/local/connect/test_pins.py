"""Pinned tools: the names under which they are shown."""

from __future__ import annotations

import re

from skillroute.catalogue.schemas import read_item
from skillroute_local.connect.catalogue import Item
from skillroute_local.connect.pins import by_id, definition, named, pinned
from skillroute_local.mcp_servers.model import Listed


def item(id_: str) -> Item:
    server, name = id_.split("/")
    value = {"name": name, "inputSchema": {"type": "object"}}
    return Item(id_, server, Listed("tool", name, value), read_item({**value, "type": "tool", "server": server}))


def shown_as(pins: list[str], tools: list[Item], owners: dict[str, str]) -> dict[str, Item]:
    return named(pinned(pins, by_id(tools)), (), owners)


def ids(shown: dict[str, Item]) -> dict[str, str]:
    return {name: item.id for name, item in shown.items()}


def test_a_name_that_was_shown_keeps_its_tool_whatever_server_comes_later() -> None:
    first = ids(shown_as(["echo"], [item("b/echo")], {}))
    assert first == {"echo": "b/echo"}
    both = [item("a/echo"), item("b/echo")]
    assert ids(shown_as(["echo"], both, first)) == {"a_echo": "a/echo", "echo": "b/echo"}
    # not even while its tool is gone
    assert ids(shown_as(["echo"], both[:1], first)) == {"a_echo": "a/echo"}
    # and without that, the order of ids decides
    assert ids(shown_as(["echo"], both, {})) == {"echo": "a/echo", "b_echo": "b/echo"}


def test_a_pinned_tool_is_shown_with_schemas_that_every_client_takes() -> None:
    value = {
        "name": "odd",
        "inputSchema": {"type": "object", "properties": {"value": True}},
        "outputSchema": {"type": "object", "properties": {"screen": {"$ref": "#/$defs/Screen"}}},
        "title": "Odd",
    }
    odd = Item("a/odd", "a", Listed("tool", "odd", value), read_item({"name": "odd", "server": "a"}))
    assert definition("a_odd", odd) == {
        "name": "a_odd",
        "title": "Odd",
        "inputSchema": {"type": "object", "properties": {"value": {}}},
    }


def test_a_pinned_tool_is_shown_without_fields_of_the_wrong_kind() -> None:
    wrong = {"title": 5, "description": None, "icons": None, "_meta": None, "execution": {"taskSupport": 1}}
    hints = {"title": 5, "readOnlyHint": "yes", "destructiveHint": True, "other": 1}
    icon = {"src": "data:,", "sizes": ["any"]}
    right = {"title": "T", "icons": [icon], "_meta": {"a": 1}, "other": None}
    for given, shown in [
        ({**wrong, "annotations": hints}, {"annotations": {"destructiveHint": True, "other": 1}}),
        ({**wrong, "annotations": None, "icons": [icon, {"src": 1}]}, {}),
        (right, right),
    ]:
        odd = Item("a/b", "a", Listed("tool", "b", {"name": "b", **given}), read_item({"name": "b", "server": "a"}))
        assert definition("b", odd) == {"name": "b", "inputSchema": {"type": "object"}, **shown}


def test_every_pinned_tool_is_shown_whatever_the_servers_are_called() -> None:
    tools = [item("a.b/echo"), item("a b/echo"), item("a_b/echo"), item("c/echo")]
    shown = shown_as(["echo"], tools, {})
    assert sorted(one.id for one in shown.values()) == sorted(one.id for one in tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in shown)
