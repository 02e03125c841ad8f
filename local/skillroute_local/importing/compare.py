"""What an import would change: a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.registry.schemas import EntityGiven

from skillroute_local.client import Written
from skillroute_local.importing.check import Checked
from skillroute_local.importing.stored import Catalogue, Stored, same_item
from skillroute_local.line_keys import key_of

_FIELDS = ("description", "input_schema", "output_schema", "annotations", "tags", "metadata")
_ENTITY_FIELDS = ("name", "description", "tags")
_DOCUMENT: dict[str, str] = {"servers": "server_json", "agents": "agent_card"}

What = Literal["created", "updated", "unchanged", "removed"]


@dataclass(frozen=True, slots=True)
class Change:
    """What would become of one item, server or agent.

    Attributes
    ----------
    name : str
        ``server/name`` of an item, with its type unless it is a tool; the path of a server or agent.
    detail : str
        The fields that differ.
    """

    kind: str
    what: What
    name: str
    detail: str = ""


def compared(rows: Iterable[Checked], catalogue: Catalogue) -> Iterator[Change]:
    """Yield what would become of each row, and of the tools of servers that come with them."""
    for valid in rows:
        kind, content = valid.row.kind, valid.content
        if kind == "lines":
            yield _line(valid.row.value, catalogue)
        if isinstance(content, ItemContent):
            yield _item(content, catalogue)
        elif isinstance(content, EntityGiven) and (kind in {"servers", "agents"}):
            yield _entity(kind, content, catalogue)
            if content.tools is not None:
                yield from _tools(content.content.tools_server, content.tools, catalogue)


def removed(row: Stored) -> Change:
    """Return the change of an item that would be removed."""
    return Change("items", "removed", title(ItemKey(row["server"] or "", row["type"], row["name"])))


def title(key: ItemKey) -> str:
    """Return what an item is called in a list of many."""
    name = f"{key.server}/{key.name}" if key.server else key.name
    return name if key.type == "tool" else f"{name} ({key.type})"


def _item(content: ItemContent, catalogue: Catalogue) -> Change:
    stored = catalogue.items(content.key.server).get(content.key)
    if stored is None:
        return Change("items", "created", title(content.key))
    if same_item(stored, content):
        return Change("items", "unchanged", title(content.key))
    differs = [name for name in _FIELDS if _differs(stored[name], getattr(content, name))]
    return Change("items", "updated", title(content.key), ", ".join(differs))


def _tools(server: str, tools: Iterable[ItemContent], catalogue: Catalogue) -> Iterator[Change]:
    """Yield what becomes of a server's tools: those that it comes with are its only ones."""
    known = set()
    for tool in tools:
        known.add(tool.key)
        yield _item(tool, catalogue)
    for key, row in catalogue.items(server).items():
        if key.type == "tool" and key not in known:
            yield removed(row)


def _line(line: Mapping[str, Any], catalogue: Catalogue) -> Change:
    key = key_of(line)
    kind, *names = key
    name = f"{kind} {'/'.join(str(name) for name in names if name)}"
    stored = catalogue.lines().get(key)
    if stored is None:
        return Change(kind, "created", name)
    differs = sorted(name for name in {*stored, *line} if (stored.get(name) or None) != (line.get(name) or None))
    return Change(kind, "updated" if differs else "unchanged", name, ", ".join(differs))


def _entity(kind: Written, given: EntityGiven, catalogue: Catalogue) -> Change:
    content = given.content
    stored = catalogue.entities("servers" if kind == "servers" else "agents").get(content.path)
    if stored is None:
        return Change(kind, "created", content.path)
    differs = [name for name in _ENTITY_FIELDS if _differs(stored[name], getattr(content, name))]
    if stored[_DOCUMENT[kind]] != content.document:
        differs.append(_DOCUMENT[kind])
    if given.is_enabled is not None and stored["is_enabled"] != given.is_enabled:
        differs.append("is_enabled")
    return Change(kind, "updated" if differs else "unchanged", content.path, ", ".join(differs))


def _differs(stored: Any, incoming: Any) -> bool:
    return bool(stored != (list(incoming) if isinstance(incoming, tuple) else incoming))
