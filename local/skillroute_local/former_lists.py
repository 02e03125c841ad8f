"""`python -m skillroute_local.former_lists URL`: what a Skillroute from before `skillroute export` has, as its lines.

For homes of development versions (docs/versioning.md). It reads lists, so stop all writers. Suggestions,
what classifiers thought, and deleted skills are not in lists: tools come with their skills, inactive ones too, and
with who assigned them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx

from skillroute_local.errors import LocalError, Unreachable

_LISTS = {
    "skill": "skills",
    "tool": "tools",
    "server": "servers",
    "agent": "agents",
    "project": "mail/projects",
    "product": "mail/products",
    "mail_agent": "mail/agents",
    "message": "mail/messages",
}
_PAGE = 100
# Of skills those versions list the active ones, unless they are asked for all.
_ALSO: dict[str, dict[str, str]] = {"skills": {"is_active": "all"}}
_ASSIGNED = ("confidence", "is_primary", "source", "assigned_at")
# What it counts and makes itself; the rest of what it does not know, an import names and leaves out.
_OWN = {"id", "is_embedded", "refusal", "content_hash", "tool_count", "project_ids", "project_count", "project_id"}

Row = dict[str, Any]


def lines(http: httpx.Client) -> Iterator[Row]:
    """Yield all that the lists of a Skillroute have, as lines of an export.

    Raises
    ------
    LocalError
        It does not answer, or not with lists.
    """
    skills: dict[int, list[Row]] = {}
    counts: dict[str, int] = {}
    for kind, path in _LISTS.items():
        counts[kind] = 0
        for row in _rows(http, path):
            counts[kind] += 1
            if kind == "skill":
                _note_tools(http, row["id"], skills)
                yield {"kind": kind, "id": row["id"], **_told(row)}
            elif kind == "tool":
                yield {"kind": kind, **_told(row), "skills": {"assigned": skills.get(row["id"], [])}}
            else:
                yield {"kind": kind, **_told(row)}
    yield {"kind": "end", "lines": counts}


def _note_tools(http: httpx.Client, skill_id: str, skills: dict[int, list[Row]]) -> None:
    for row in _rows(http, f"skills/{quote(skill_id, safe='')}/tools"):
        assigned = {"skill_id": skill_id, **{name: row[name] for name in _ASSIGNED if name in row}}
        skills.setdefault(row["tool_id"], []).append(assigned)


def _told(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _OWN}


def _rows(http: httpx.Client, path: str) -> Iterator[Row]:
    """Yield the rows of a list; of one that its version does not have, none.

    A page may end before its limit, by its bytes: an empty one is the end, and the total of the first says how many
    there are.
    """
    offset, total = 0, None
    while True:
        answer = _page(http, path, offset)
        if answer is None:
            return
        rows = answer.json()
        total = answer.headers.get("X-Total-Count") if total is None else total
        yield from rows
        offset += len(rows)
        if not rows:
            break
    if total is not None and offset != int(total):
        raise LocalError(
            f"{http.base_url} says {path} has {total} rows, and gave {offset}: try again while no process writes to it"
        )


def _page(http: httpx.Client, path: str, offset: int) -> httpx.Response | None:
    """Return a page of a list, None where its version does not have the list."""
    try:
        answer = http.get(f"/api/v1/{path}", params={"limit": _PAGE, "offset": offset, **_ALSO.get(path, {})})
    except httpx.HTTPError as error:
        raise Unreachable(f"{http.base_url} does not answer: start the version that made the home") from error
    if answer.status_code == httpx.codes.NOT_FOUND and offset == 0:
        return None
    if answer.status_code != httpx.codes.OK:
        raise LocalError(f"{answer.url} answers {answer.status_code}: {answer.text[:200]}")
    return answer


def main() -> None:
    """Write the lines to standard output, after all were read."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m skillroute_local.former_lists http://localhost:PORT > backup.ndjson")
    try:
        with httpx.Client(base_url=sys.argv[1], timeout=60.0) as http:
            found = list(lines(http))
    except LocalError as error:
        sys.exit(f"skillroute: {error}")
    for line in found:
        sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
