"""The kinds of lines of an export, and what makes two of them the same thing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

ENDS = frozenset({"page", "end"})
"""The kinds of last lines, which are no rows."""


def _tool(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return line.get("server"), line.get("type", "tool"), line.get("name")


def _suggestion(line: Mapping[str, Any]) -> tuple[Any, ...]:
    tool = line.get("tool")
    named = _tool(tool) if isinstance(tool, Mapping) else (line.get("tool_name"),)
    alike = line.get("skill_id"), line.get("created_at"), line.get("occurrence", 1)
    return line.get("suggestion"), line.get("name"), *named, *alike


def _agent_name(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return (unicodedata.normalize("NFKC", str(line.get("name"))).casefold(),)


_KEYS: Mapping[str, Callable[[Mapping[str, Any]], tuple[Any, ...]]] = {
    "skill": lambda line: (line.get("id"),),
    "tool": _tool,
    "suggestion": _suggestion,
    "server": lambda line: (line.get("path"),),
    "agent": lambda line: (line.get("path"),),
    "project": lambda line: (line.get("key"),),
    "product": lambda line: (line.get("key"),),
    "mail_agent": _agent_name,
    "message": lambda line: (line.get("key"),),
}
KINDS = tuple(_KEYS)
"""The kinds of lines that are rows, in the order of an export."""


def key_of(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what makes a line the same one in two exports: its kind, and its natural key."""
    kind = str(line.get("kind"))
    key = _KEYS[kind](line) if kind in _KEYS else ()
    return (kind, *(str(part or "") for part in key))
