"""Rows of the values of a document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skillroute_local.client import Written
from skillroute_local.importing.model import Refuse, Row
from skillroute_local.importing.pointers import pointer


def entries(value: Any, name: str, field: str) -> list[tuple[str, Any]]:
    """Return the entries of a file's value with their places: those of the list that it is or has in a field, else it.

    Parameters
    ----------
    name : str
        Of the file.
    """
    base = f"{name}#"
    if isinstance(value, dict) and isinstance(value.get(field), list):
        value, base = value[field], pointer(base, field)
    if isinstance(value, list):
        return [(pointer(base, place), entry) for place, entry in enumerate(value)]
    return [(name, value)]


def rows_of(kind: Written, values: Iterable[tuple[str, object]], refuse: Refuse) -> Iterator[Row]:
    """Yield rows of values with their places; what is not a JSON object is refused."""
    for where, value in values:
        if isinstance(value, dict):
            yield Row(kind, where, value, size_of(value))
        else:
            refuse(where, "not a JSON object")


def size_of(value: Any) -> int:
    """Return roughly how many bytes a value has as JSON: what cannot be written is refused later, with its place."""
    try:
        return len(json.dumps(value))
    except (ValueError, RecursionError):
        return 0


SAYS_WHOSE = "--server NAME says whose"
"""Ends the note about items that no server is named for."""


def no_server(rows: Sequence[Row]) -> list[str]:
    """Return what to tell of items that no server is named for, nothing where there are none."""
    count = sum(not row.value.get("server") for row in rows)
    if not count:
        return []
    have, are = ("item has", "is") if count == 1 else ("items have", "are")
    return [f"{count} {have} no server, and {are} of none in lists, switches and the registry: {SAYS_WHOSE}"]


def with_server(value: dict[str, Any], server: str | None) -> dict[str, Any]:
    """Return an item with the server that was chosen, unless it names one itself."""
    return {**value, "server": server} if server and not value.get("server") else value
