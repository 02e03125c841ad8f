"""The parts of a definition, and how those of two differ."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.input.hidden_text import named

FIELDS = ("title", "description", "input_schema", "output_schema", "annotations", "http")
"""The parts of a definition, as `mcp.definition_of` has them."""

_MAX_COMPARED = 1_000
"""Lines of one part that are compared: the work grows with their square."""
_MAX_LINES, _MAX_LENGTH = 200, 500


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that is not as it was approved.

    Attributes
    ----------
    diff : sequence of str
        Lines of a unified diff, without its head; invisible characters as ``<U+200B>``.
    """

    field: str
    diff: Sequence[str]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the parts that differ, and how; schemas with their names in order, so that order is no difference."""
    found = []
    for field in FIELDS:
        old, new = _lines(before.get(field)), _lines(after.get(field))
        if old != new:
            found.append(Difference(field, _shortened(_diff(old, new))))
    return found


def _lines(part: object) -> list[str]:
    if part is None:
        return []
    text = part if isinstance(part, str) else json.dumps(part, indent=2, sort_keys=True, ensure_ascii=False)
    return text.splitlines()


def _diff(old: list[str], new: list[str]) -> Iterator[str]:
    if max(len(old), len(new)) > _MAX_COMPARED:
        in_old, in_new = set(old), set(new)
        yield from (f"-{line}" for line in old if line not in in_new)
        yield from (f"+{line}" for line in new if line not in in_old)
        return
    for number, line in enumerate(difflib.unified_diff(old, new, lineterm="", n=1)):
        if number >= 2:
            yield line


def _shortened(lines: Iterator[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if len(kept) == _MAX_LINES:
            return [*kept, "..."]
        kept.append(named(line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}..."))
    return kept
