"""SQL by name. Each .sql file beside this one holds statements under ``-- name: the_name`` lines."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


@cache
def _statements() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in files(__package__).iterdir():
        if file.name.endswith(".sql"):
            _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
            for name, sql in zip(parts[::2], parts[1::2], strict=True):
                if name in found:
                    raise ValueError(f"two statements are named {name}")
                # Comments are for readers; pg8000 would parse them on every first use.
                lines = [line for line in sql.splitlines() if line.strip() and not line.lstrip().startswith("--")]
                found[name] = "\n".join(lines)
    return found


def statement(name: str) -> str:
    """Return the statement of that name; KeyError when there is none."""
    return _statements()[name]


def names() -> list[str]:
    """Return all names, sorted."""
    return sorted(_statements())
