"""The front matter of a `SKILL.md`: YAML, or what people write in its place and Claude Code reads line by line."""

from __future__ import annotations

import re
from typing import Any

from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.yaml_text import load_yaml

_KEY = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|$)(.*)$")
_QUOTES = ("'", '"')
_BLOCK = re.compile(r"^[>|][+-]?$")


def read_front_matter(text: str, where: str) -> tuple[dict[str, Any], str | None]:
    """Return the fields of front matter that begins in line 2, and why it is no YAML where it is none.

    It is then read line by line: a field is what stands behind its name and a colon, with the lines indented below it.
    A field that is YAML on its own has the value of that.

    Raises `Unreadable` with the line where it has no fields.
    """
    problem = None
    try:
        front = load_yaml(text, where, first_line=2)
    except Unreadable as error:
        problem = f"{error.where.removeprefix(where)}: {error.reason}".lstrip(":")
        front = {key: _value(lines, where) for key, lines in _fields(text)}
        if not front:
            raise
    if not isinstance(front, dict):
        raise Unreadable(f"{where}:2", "the front matter must have name and description")
    return front, problem


def _fields(text: str) -> list[tuple[str, list[str]]]:
    """Return the lines of each field, the first of a name alone: more of it are another's, as an example's are."""
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for line in text.splitlines():
        if (match := _KEY.match(line)) and match[1] not in found:
            last = found[match[1]] = [line]
        elif not line.startswith("#"):
            last.append(line)
    return list(found.items())


def _value(lines: list[str], where: str) -> Any:
    try:
        [value] = load_yaml("\n".join(lines), where).values()
    except (Unreadable, AttributeError, ValueError):
        return _text(lines)
    return value


def _text(lines: list[str]) -> str:
    match = _KEY.match(lines[0])
    first = match[2].strip() if match else ""
    texts = [text for line in ([] if _BLOCK.match(first) else [first]) + lines[1:] if (text := line.strip())]
    whole = " ".join(texts)
    quoted = len(whole) > 1 and whole[0] == whole[-1] and whole[0] in _QUOTES
    return whole[1:-1] if quoted else whole
