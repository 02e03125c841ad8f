"""Files of JSON Lines that the console keeps: each line is an object; another one stays as it stands."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


class JsonLines:
    """A file of JSON Lines.

    Parameters
    ----------
    path : Path
        Made with the first line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def next_to(self, what: str) -> JsonLines:
        """Return the file next to it that is about something else: ``requests.WHAT.jsonl``."""
        return JsonLines(self.path.with_name(f"{self.path.stem}.{what}{self.path.suffix}"))

    def values(self) -> list[dict[str, Any]]:
        """Return the objects."""
        return [value for _, value in self.lines() if value is not None]

    def keep(self, value: dict[str, Any], most: int) -> None:
        """Write an object at the end; of more than `most` lines the oldest go."""
        kept = [line for line, _ in self.lines()]
        self.replace([*kept, json.dumps(value, ensure_ascii=False)][-most:])

    def lines(self) -> list[tuple[str, dict[str, Any] | None]]:
        """Return each line with its value; None for one that is no object: it is left as it stands."""
        if not self.path.exists():
            return []
        return [(line, value_of(line)) for line in self.path.read_text("utf-8").splitlines()]

    def replace(self, lines: list[str]) -> None:
        """Write other lines, whole or not at all: people have worked on this file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            Path(draft).replace(self.path)
        except BaseException:
            Path(draft).unlink()
            raise


def value_of(line: str) -> dict[str, Any] | None:
    """Return the object that a line is; None where it is none."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
