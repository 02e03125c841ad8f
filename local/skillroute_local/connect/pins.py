"""Tools that stay visible beside the search: by their ids, their names, or all of a server's by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillroute.core.strict_schemas import strict_input, strict_output

from skillroute_local.connect.catalogue import Item

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def pinned(
    pins: Sequence[str], items: Iterable[Item], taken: Iterable[str], owners: Mapping[str, str]
) -> dict[str, Item]:
    """Return the tools that are pinned, by the names under which they are shown.

    That is a tool's own name, with its server's before it where another one has that name already.

    Parameters
    ----------
    taken : iterable of str
        Names that are in use.
    owners : mapping
        The ids of tools by the names under which they were shown before: each keeps its name, and no other gets it.
    """
    # In one order, whichever server was the first to be ready: equal lists are equal bytes.
    tools = sorted((item for item in items if item.listed.kind == "tool"), key=lambda item: item.id)
    names = {*taken, *owners}
    before = {id_: name for name, id_ in owners.items()}
    shown: dict[str, Item] = {}
    for pin in pins:
        for item in tools:
            if pin in {item.id, item.listed.name, item.server} and item not in shown.values():
                if item.id in before:
                    shown[before[item.id]] = item
                    continue
                name = item.listed.name
                if name in names:
                    name = _NOT_IN_NAMES.sub("_", f"{item.server}_{name}")
                if name not in names:
                    names.add(name)
                    shown[name] = item
    return shown


def definition(name: str, item: Item) -> dict[str, Any]:
    """Return a tool as its server lists it, but for its shown name and schemas that not all clients take."""
    shown = {**item.listed.value, "name": name, "inputSchema": strict_input(item.listed.value.get("inputSchema"))}
    output = strict_output(shown.pop("outputSchema", None))
    return {**shown, "outputSchema": output} if output is not None else shown


def unknown_pins(pins: Sequence[str], items: Iterable[Item]) -> list[str]:
    """Return the pins that fit no tool."""
    known = {name for item in items if item.listed.kind == "tool" for name in (item.id, item.listed.name, item.server)}
    return [pin for pin in pins if pin not in known]
