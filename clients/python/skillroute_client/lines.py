"""The lines of an export: which thing each is, and which others it names."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

ENDS = frozenset({"page", "end"})
"""The kinds of last lines, which are no rows."""

Row = Mapping[str, Any]
Key = tuple[str, ...]


def _tool(row: Row) -> tuple[Any, ...]:
    return row.get("server"), row.get("type", "tool"), row.get("name")


def _suggestion(row: Row) -> tuple[Any, ...]:
    tool = row.get("tool")
    named = _tool(tool) if isinstance(tool, Mapping) else (row.get("tool_name"),)
    alike = row.get("skill_id"), row.get("created_at"), row.get("occurrence", 1)
    return row.get("suggestion"), row.get("name"), *named, *alike


def _agent_name(row: Row) -> tuple[Any, ...]:
    return (unicodedata.normalize("NFKC", str(row.get("name"))).casefold(),)


_KEYS: Mapping[str, Callable[[Row], tuple[Any, ...]]] = {
    "skill": lambda row: (row.get("id"),),
    "tool": _tool,
    "suggestion": _suggestion,
    "server": lambda row: (row.get("path"),),
    "agent": lambda row: (row.get("path"),),
    "agent_skill": lambda row: (row.get("path"),),
    "project": lambda row: (row.get("key"),),
    "product": lambda row: (row.get("key"),),
    "mail_agent": _agent_name,
    "message": lambda row: (row.get("key"),),
}
KINDS = tuple(_KEYS)
"""The kinds of lines that are rows, in the order of an export."""


def key_of(row: Row) -> Key:
    """Return what makes a line the same one in two exports: its kind, and its natural key."""
    kind = str(row.get("kind"))
    return _key(kind, *_KEYS[kind](row)) if kind in _KEYS else (kind,)


def _key(kind: str, *parts: Any) -> Key:
    return (kind, *(str(part or "") for part in parts))


def _named_by(row: Row) -> Iterator[Key]:
    """Yield the keys of the things that must be there before a line is written."""
    match row.get("kind"):
        case "tool":
            skills = row.get("skills")
            assigned = skills.get("assigned") if isinstance(skills, Mapping) else None
            yield from (_key("skill", one.get("skill_id")) for one in _list(assigned) if isinstance(one, Mapping))
        case "suggestion":
            yield from (_key("skill", row.get(field)) for field in ("skill_id", "resolved_skill_id"))
            if isinstance(tool := row.get("tool"), Mapping):
                yield _key("tool", *_tool(tool))
        case "product" | "mail_agent":
            yield from (_key("project", project) for project in _list(row.get("projects")))
        case "message":
            yield _key("project", row.get("project"))


def _list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()


class Earlier:
    """The lines of former calls of a dry run that later ones may name: each call is taken back when it ends."""

    def __init__(self) -> None:
        self._rows: dict[Key, Row] = {}

    def add(self, row: Row) -> None:
        """Take note of a line that would be written."""
        if row.get("kind") in {"skill", "project"}:
            self._rows[key_of(row)] = row
        elif row.get("kind") == "tool":
            # A suggestion of it goes by its skills; its schemas would fill the memory.
            self._rows[key_of(row)] = {name: row[name] for name in _OF_A_NAMED_TOOL if name in row}

    def needed_by(self, row: Row) -> dict[Key, Row]:
        """Return the lines that must stand before a line in its call, in their order, by their keys."""
        found: dict[Key, Row] = {}
        for key in _named_by(row):
            if (earlier := self._rows.get(key)) is not None:
                found |= {**self.needed_by(earlier), key: earlier}
        return found


_OF_A_NAMED_TOOL = ("kind", "server", "type", "name", "skills")
