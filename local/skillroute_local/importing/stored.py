"""Reads the stored rows that an import compares with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from skillroute.catalogue.model import ItemKey
from skillroute_client.lines import key_of

from skillroute_local.client import Client
from skillroute_local.exporting import exported_lines

MARK = "skillroute_pruned"
"""The field of `metadata` by which an item says that a `--prune` switched it off (skillroute_local.importing.pruned).

Its value says when (`at`), and whether the item had been off before (`was_switched_off`).
"""

_PAGE = 500

Stored = dict[str, Any]
"""An item, a server or an agent as the API answers it."""


class Catalogue:
    """Reads what is stored, each server's items and each kind of entities once.

    Of an organisation's item and a global one of the same name the organisation's counts: it is the one that an import
    writes.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._items: dict[str, dict[ItemKey, Stored]] = {}
        self._entities: dict[str, dict[str, Stored]] = {}
        self._agent_skills: dict[str, Stored] | None = None
        self._lines: dict[tuple[str, ...], Stored] | None = None
        self.has_own = False  # whether an organisation's item was among those that were read

    def items(self, server: str) -> dict[ItemKey, Stored]:
        """Return the items of a server, or those without one."""
        if server not in self._items:
            rows = all_pages(lambda limit, offset: self._client.items(limit=limit, offset=offset, server=server))
            held = self._items[server] = {key_of_item(row): row for row in own_last(rows)}
            self.has_own |= any(row["org_id"] is not None for row in held.values())
        return self._items[server]

    def entities(self, kind: Literal["servers", "agents"]) -> dict[str, Stored]:
        """Return the servers or agents by their paths."""
        if kind not in self._entities:
            rows = all_pages(lambda limit, offset: self._client.entities(kind, limit=limit, offset=offset))
            self._entities[kind] = {row["path"]: row for row in own_last(rows)}
        return self._entities[kind]

    def agent_skills(self) -> dict[str, Stored]:
        """Return the Agent Skills by their paths."""
        if self._agent_skills is None:
            rows = all_pages(lambda limit, offset: self._client.agent_skills(limit=limit, offset=offset))
            self._agent_skills = {row["path"]: row for row in own_last(rows)}
            self.has_own |= any(row["org_id"] is not None for row in self._agent_skills.values())
        return self._agent_skills

    def lines(self) -> dict[tuple[str, ...], Stored]:
        """Return all that an export has, by kind and natural key."""
        if self._lines is None:
            self._lines = {key_of(line): line for line in exported_lines(self._client)}
        return self._lines


def own_last(rows: Iterable[Stored]) -> list[Stored]:
    """Return rows in an order in which an organisation's own comes after a global one of the same key."""
    return sorted(rows, key=lambda row: row["org_id"] is not None)


def key_of_item(row: Stored) -> ItemKey:
    """Return by what an item is the same as that of a source."""
    return ItemKey(row["server"] or "", row["type"], row["name"])


def mark_of(row: Stored) -> Mapping[str, Any] | None:
    """Return the mark of an item that a `--prune` switched off; None of one that is on, or that somebody else did."""
    mark = row["metadata"].get(MARK)
    return mark if isinstance(mark, dict) and row["is_switched_off"] else None


def without_mark(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an item says of itself beside the mark."""
    return {name: value for name, value in metadata.items() if name != MARK}


def all_pages(page: Callable[[int, int], list[Stored]]) -> Iterator[Stored]:
    """Yield the rows of all pages, each asked for by a limit and an offset.

    A page may end before its limit, by its bytes; an empty one is the end.
    """
    offset = 0
    while rows := page(_PAGE, offset):
        yield from rows
        offset += len(rows)
