"""The items that only read, as their servers declare it: those that `call_tool_read` calls."""

from __future__ import annotations

from collections.abc import Mapping

from skillroute_local.connect.catalogue import Item


def only_reads(item: Item) -> bool:
    """Return whether an item is declared to change nothing; prompts and resources never do.

    A tool without annotations may write, as MCP has it, and so may one whose hints contradict each other or are of
    another kind than truth values.
    """
    if item.listed.kind != "tool":
        return True
    hints = item.listed.value.get("annotations")
    if not isinstance(hints, Mapping):
        return False
    destroys = hints.get("destructiveHint")
    return hints.get("readOnlyHint") is True and (destroys is None or destroys is False)
