"""The hints of an item: what its server declares of its effects, as rules of access name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.rights.model import Hint


def only_reads(kind: str, annotations: object) -> bool:
    """Return whether an item is declared to change nothing; prompts and resources never do.

    A tool without annotations may write, as MCP has it, and so may one whose hints contradict each other or are of
    another kind than truth values.
    """
    if kind != "tool":
        return True
    if not isinstance(annotations, Mapping):
        return False
    destroys = annotations.get("destructiveHint")
    return annotations.get("readOnlyHint") is True and (destroys is None or destroys is False)


def hints_of(kind: str, annotations: Mapping[str, Any] | None) -> frozenset[Hint]:
    """Return the hints of an item; `mcp.hints_of` is the same in SQL.

    What may write is destructive unless its server declares that it is not, as MCP has it.

    Examples
    --------
    >>> sorted(hints_of("tool", {"destructiveHint": False}))
    ['not_read_only']
    >>> sorted(hints_of("tool", None))
    ['destructive', 'not_read_only']
    """
    if only_reads(kind, annotations):
        return frozenset({"read_only"})
    is_harmless = isinstance(annotations, Mapping) and annotations.get("destructiveHint") is False
    return frozenset({"not_read_only"} if is_harmless else {"not_read_only", "destructive"})
