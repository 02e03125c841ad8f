"""Reads an export of `skillroute export`: lines of all kinds, which one route takes as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from skillroute_client.lines import ENDS, KINDS

from skillroute_local.importing.content import Content, Lines, document_of
from skillroute_local.importing.items import rows_of_lines
from skillroute_local.importing.model import Choices, Reading, Refuse, Row

_TAIL = 64 * 1024


def is_backup(content: Content) -> bool:
    """Return whether a source is an export: its first line says of which kind it is."""
    if isinstance(content, Lines):
        with content.path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
        return _kind_of(first) in {*KINDS, *ENDS}
    value = document_of(content)
    return isinstance(value, dict) and value.get("kind") in ENDS


def read_backup(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the lines of an export; they are read as they are asked for, however many there are."""
    path = content.path
    notes = (
        () if _kind_of(_last_line(path)) == "end" else ("has no last line of kind end: it may be part of an export",)
    )
    partial = "an import of an export removes nothing"
    return Reading("lines", _rows(path, refuse), path.stat().st_size, partial=partial, notes=notes)


def _rows(path: Path, refuse: Refuse) -> Iterator[Row]:
    return (row for row in rows_of_lines("lines", path, refuse) if row.value.get("kind") not in ENDS)


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return next((line for line in reversed(file.read().splitlines()) if line.strip()), b"")


def _kind_of(line: bytes) -> str | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None
