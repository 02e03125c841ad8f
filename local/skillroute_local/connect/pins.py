"""Tools that stay visible in addition to the search: by their ids, their names, or all of a server's by its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from skillroute.core.input.strict_schemas import strict_input, strict_output

from skillroute_local.connect.catalogue import Item

_DIGITS = 8
_MAX_LENGTH = 64  # of names that are made here: more is refused by models' APIs
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def by_id(items: Iterable[Item]) -> list[Item]:
    """Return the tools among items in one order, whichever server was ready first: equal lists are equal bytes."""
    return sorted((item for item in items if item.listed.kind == "tool"), key=lambda item: item.id)


def pinned(pins: Sequence[str], tools: Sequence[Item]) -> list[Item]:
    """Return the tools that are pinned, in the order of the pins."""
    found = {item.id: item for pin in pins for item in tools if pin in {item.id, item.listed.name, item.server}}
    return list(found.values())


def named(tools: Sequence[Item], taken: Iterable[str], owners: Mapping[str, str]) -> dict[str, Item]:
    """Return tools by the names under which they are shown, each once.

    That is a tool's own name, with its server's before it where another one has that name already, and a digest of its
    id behind it where that is taken too, or longer than clients take.

    Parameters
    ----------
    taken : iterable of str
        Names that are in use.
    owners : mapping
        The ids of tools by the names under which they were shown before: each keeps its name, and no other gets it.
    """
    names = {*taken, *owners}
    before = {id_: name for name, id_ in owners.items()}
    shown: dict[str, Item] = {}
    done: set[str] = set()
    for item in tools:
        if item.id in done:
            continue
        done.add(item.id)
        if (name := before.get(item.id)) is None:
            name = _free_name(item, names)
            names.add(name)
        shown[name] = item
    return shown


def _free_name(item: Item, names: Container[str]) -> str:
    name = item.listed.name
    if name not in names:
        return name
    name = _NOT_IN_NAMES.sub("_", f"{item.server}_{name}")
    if name in names or len(name) > _MAX_LENGTH:  # what was replaced was all that told them apart
        digest = hashlib.sha256(item.id.encode()).hexdigest()[:_DIGITS]
        name = f"{name[: _MAX_LENGTH - _DIGITS - 1]}_{digest}"
    return name


def definition(name: str, item: Item) -> dict[str, Any]:
    """Return a tool as its server lists it, but for its name here and for what not every client takes.

    A client that checks each field refuses the whole list of tools for one: fields of the wrong kind are left out, and
    schemas are made strict.
    """
    listed = {field: value for field, value in item.listed.value.items() if _KINDS.get(field, _is_any)(value)}
    if "annotations" in listed:
        hints = listed["annotations"].items()
        listed["annotations"] = {
            hint: value for hint, value in hints if isinstance(value, _ANNOTATIONS.get(hint, object))
        }
    shown = {**listed, "name": name, "inputSchema": strict_input(listed.get("inputSchema"))}
    output = strict_output(shown.pop("outputSchema", None))
    return {**shown, "outputSchema": output} if output is not None else shown


def _is_any(value: object) -> bool:
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _are_icons(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_icon, value))


def _is_icon(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("src"), str):
        return False
    sizes = value.get("sizes", [])
    return (
        isinstance(value.get("mimeType", ""), str)
        and isinstance(sizes, list)
        and all(isinstance(size, str) for size in sizes)
        and value.get("theme", "light") in ("light", "dark")
    )


def _is_execution(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("taskSupport", "optional") in ("required", "optional", "forbidden")


_KINDS: Mapping[str, Callable[[object], bool]] = {
    "title": _is_text,
    "description": _is_text,
    "icons": _are_icons,
    "annotations": _is_mapping,
    "execution": _is_execution,
    "_meta": _is_mapping,
}
_ANNOTATIONS: Mapping[str, type] = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}


def unknown_pins(pins: Sequence[str], items: Iterable[Item]) -> list[str]:
    """Return the pins that fit no tool."""
    known = {name for item in items if item.listed.kind == "tool" for name in (item.id, item.listed.name, item.server)}
    return [pin for pin in pins if pin not in known]
