"""The items that only read, as their servers declare it: those that `call_tool_read` calls."""

from __future__ import annotations

from skillroute.catalogue.annotations import only_reads as hints_read

from skillroute_local.connect.catalogue import Item


def only_reads(item: Item) -> bool:
    """Return whether an item is declared to change nothing; prompts and resources never do."""
    return item.listed.kind != "tool" or hints_read(item.listed.value.get("annotations"))
