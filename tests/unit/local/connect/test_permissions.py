"""Which items only read: those that say so in the one way that MCP has for it."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.catalogue.schemas import read_item
from skillroute_local.connect.catalogue import Item
from skillroute_local.connect.permissions import only_reads
from skillroute_local.mcp_servers.model import Listed, ListedKind

MISSING = object()


def item(kind: ListedKind, annotations: object) -> Item:
    value: dict[str, Any] = {"name": "a"} if annotations is MISSING else {"name": "a", "annotations": annotations}
    return Item("s/a", "s", Listed(kind, "a", value), read_item({"name": "a", "server": "s"}))


@pytest.mark.parametrize(
    ("annotations", "reads"),
    [
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": True, "destructiveHint": False}, True),
        ({"readOnlyHint": True, "destructiveHint": None}, True),
        ({"readOnlyHint": True, "destructiveHint": True}, False),
        ({"readOnlyHint": True, "destructiveHint": 0}, False),
        ({"readOnlyHint": True, "destructiveHint": "false"}, False),
        ({"readOnlyHint": False}, False),
        ({"readOnlyHint": 1}, False),
        ({"readOnlyHint": "true"}, False),
        ({"destructiveHint": False}, False),
        ({"readonlyhint": True}, False),
        ({}, False),
        ([{"readOnlyHint": True}], False),
        (None, False),
        (MISSING, False),
    ],
)
def test_a_tool_only_reads_where_its_server_declares_it(annotations: object, *, reads: bool) -> None:
    assert only_reads(item("tool", annotations)) is reads


@pytest.mark.parametrize("kind", ["prompt", "resource"])
def test_prompts_and_resources_only_read(kind: ListedKind) -> None:
    assert only_reads(item(kind, MISSING))
