"""SQL by name. The .sql files here, and a slice's ``*queries.sql`` next to its repositories, hold statements
under ``-- name: the_name`` lines.

A line ``-- plan: custom`` below the name has PostgreSQL plan the statement for the values of each run, never once for
all values: it pays where most conditions are optional. Agent mail, 20,000 messages: full text in one project 1.3 ms
instead of 26, the newest messages 0.3 instead of 37; planning costs 0.2 to 0.4 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

CONDITIONS = {
    "own": "{0} IS NOT DISTINCT FROM :org_id::text",
    "own_by_index": "CASE WHEN :org_id::text IS NULL THEN {0} IS NULL ELSE {0} = :org_id::text END",
}
"""Named conditions on tenancy, `{{own t.org_id}}`: rows of the organisation, or global ones where it is null.

Reads go by the functions `mcp.<rows>_seen_by`. PostgreSQL uses an index for `own_by_index`, in a plan for the values of
the run, and not for `own`.
"""

_CONDITION = re.compile(r"\{\{(\w+) ([\w.]+)\}\}")
_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)
_CUSTOM = re.compile(r"^-- plan: custom$", re.MULTILINE)


@cache
def _statements() -> dict[str, tuple[str, bool]]:
    """Return each statement, and whether it is planned for the values of each run."""
    found: dict[str, tuple[str, bool]] = {}
    for file in _files():
        _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, sql in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise ValueError(f"two statements are named {name}")
            # Comments are for readers; pg8000 would parse them on every first use.
            lines = [line for line in sql.splitlines() if line.strip() and not line.lstrip().startswith("--")]
            text = _CONDITION.sub(lambda match: CONDITIONS[match[1]].format(match[2]), "\n".join(lines))
            found[name] = text, _CUSTOM.search(sql) is not None
    return found


def _files() -> Iterator[Traversable]:
    """Yield the files of all statements. The core knows no slice: whatever folder has statements is one."""
    yield from (file for file in files(__package__).iterdir() if file.name.endswith(".sql"))
    yield from _beside_repositories(files("skillroute"))


def _beside_repositories(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        if entry.name.endswith("queries.sql"):
            yield entry
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield from _beside_repositories(entry)


def statement(name: str) -> str:
    """Return the statement of that name; KeyError when there is none."""
    return _statements()[name][0]


def plan_cache_mode(name: str) -> str:
    """Return PostgreSQL's setting for a statement: whether it may be planned once for all values."""
    return "force_custom_plan" if _statements()[name][1] else "auto"


def names() -> list[str]:
    """Return all names, sorted."""
    return sorted(_statements())
