"""The items that only read, as their servers declare it: those that `call_tool_read` calls."""

from __future__ import annotations

from skillroute.core.rights import hints

from skillroute_local.connect.catalogue import Item


def only_reads(item: Item) -> bool:
    """Return whether an item is declared to change nothing; prompts and resources never do."""
    return hints.only_reads(item.listed.kind, item.listed.value.get("annotations"))
