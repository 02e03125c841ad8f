"""The hints of a tool about what it does, as its server declares them."""

from __future__ import annotations

from collections.abc import Mapping


def only_reads(annotations: object) -> bool:
    """Return whether a tool is declared to change nothing.

    A tool without annotations may write, as MCP has it, and so may one whose hints contradict each other or are of
    another kind than truth values.

    Examples
    --------
    >>> only_reads({"readOnlyHint": True}), only_reads({"readOnlyHint": True, "destructiveHint": True})
    (True, False)
    """
    if not isinstance(annotations, Mapping):
        return False
    destroys = annotations.get("destructiveHint")
    return annotations.get("readOnlyHint") is True and (destroys is None or destroys is False)
