"""Items as the API takes them, with every field: JSON Lines, or a JSON document with one item or a list of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from skillroute_local.client import Written
from skillroute_local.documents import lines_of
from skillroute_local.importing.content import Content, Lines, document_of
from skillroute_local.importing.model import Choices, Reading, Refuse, Row
from skillroute_local.importing.values import entries, no_server, rows_of, with_server

MAX_LINE_BYTES = 8 * 1024 * 1024
"""Of a line: many times what an item may have, and no reason to read a file without line ends whole."""


def is_lines(content: Content) -> bool:
    """Return whether a source is a file of lines."""
    return isinstance(content, Lines)


def read_item_lines(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the items of a file with one a line; they are read as they are asked for, however many there are."""
    path = content.path
    return Reading("items", _of_lines(path, choices, refuse), path.stat().st_size, scopes_of_rows=True)


def rows_of_lines(kind: Written, path: Path, refuse: Refuse) -> Iterator[Row]:
    """Yield the objects of a file with one a line, as they are asked for."""
    for line in lines_of(_bounded(path, refuse), path.name, lambda problem: refuse(*problem.split(": ", 1))):
        yield Row(kind, line.where, line.value, line.size)


def _of_lines(path: Path, choices: Choices, refuse: Refuse) -> Iterator[Row]:
    for row in rows_of_lines("items", path, refuse):
        yield Row("items", row.where, _item(row.value, choices), row.size)


def _bounded(path: Path, refuse: Refuse) -> Iterator[bytes]:
    """Yield the lines of a file; in place of one that no item can have an empty one, so that the others count right."""
    with path.open("rb") as file:
        for number in count(1):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES:
                refuse(f"{path.name}:{number}", f"the line is larger than {MAX_LINE_BYTES >> 20} MB")
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE_BYTES)
                line = b"\n"
            yield line


def is_document(content: Content) -> bool:
    """Return whether a document is an item, a list of objects, or has a list of items."""
    value = document_of(content)
    if isinstance(value, dict):
        return isinstance(value.get("items"), list) or isinstance(value.get("name"), str)
    return isinstance(value, list)


def read_item_document(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the items of a document."""
    named = entries(document_of(content), content.path.name, "items")
    rows = [Row("items", row.where, _item(row.value, choices), row.size) for row in rows_of("items", named, refuse)]
    size = sum(row.size for row in rows)
    return Reading("items", rows, size, scopes_of_rows=True, notes=no_server(rows))


def _item(value: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """Turn an object of a catalogue file into an item.

    `category` becomes a tag; what the API does not know (`id`, `server_description`, ...) is kept as metadata by it.
    """
    item = with_server(value, choices.server)
    if not item.get("category"):
        return item
    category, tags = item["category"], item.get("tags")
    rest = {name: inner for name, inner in item.items() if name != "category"}
    return {**rest, "tags": [*(tags if isinstance(tags, list) else ()), str(category)]}
