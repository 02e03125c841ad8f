"""Sources for the tests: written to a file, read as the command reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillroute_local.importing.check import checked
from skillroute_local.importing.formats import read
from skillroute_local.importing.model import About, Choices, Reading, Row


@dataclass
class Read:
    """What became of a source: rows that the API would take, and refusals as they are shown."""

    reading: Reading
    rows: list[Row] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    about: list[About] = field(default_factory=list)

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """The rows by name, Agent Skills by their paths."""
        return {row.value.get("name") or row.value["path"]: row.value for row in self.rows}


def read_path(path: Path, *, server: str | None = None, name: str | None = None, timeout_s: float = 5.0) -> Read:
    """Read a source and check its rows. Raises `Unreadable`."""
    refused: list[str] = []
    about: list[About] = []

    def refuse(where: str, reason: str, what: About = None, /) -> None:
        refused.append(f"{where}: {reason}")
        about.append(what)

    reading = read(path, Choices(server=server, timeout_s=timeout_s), refuse, name=name)
    rows = [each.row for each in checked(reading.rows, refuse)]
    return Read(reading, rows, refused, about)


def written(folder: Path, name: str, content: object) -> Path:
    """Write a file, JSON unless the content is a text already."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return path


def strings(value: object) -> Iterator[str]:
    """Yield every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
