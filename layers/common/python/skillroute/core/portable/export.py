"""Exporting an organisation's own rows as lines, page by page, so that all of them are of one moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillroute.core.answer_size import PAGE_BYTES, on_the_way
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.portable.cursor import Cursor
from skillroute.core.portable.model import END, PAGE_END, Portable, Slice
from skillroute.core.postgres.database import Database, Session

_AT_ONCE = 200
"""Rows of one statement: their lines are made in memory before the page is cut."""


@dataclass(slots=True)
class _Page:
    """The lines of a page, as long as there is room."""

    limit: int
    lines: list[bytes]
    room: int = PAGE_BYTES

    def take(self, line: Mapping[str, Any]) -> bool:
        """Add a line, and return whether it had room; the first one always has."""
        data = _to_bytes(line)
        size = on_the_way(data) + 1
        if self.lines and (len(self.lines) >= self.limit or size > self.room):
            return False
        self.lines.append(data)
        self.room -= size
        return True

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= self.limit or self.room <= 0


class Export:
    """`GET /api/v1/export`.

    A page is read in one transaction that sees one moment. Whether rows changed between two pages is known by the
    versions of their kinds, which are taken when an export begins, and compared when it ends.

    Parameters
    ----------
    database : Database
    kinds : sequence of Portable
        In the order in which they are exported and imported: each names only what stands before it.
    """

    def __init__(self, database: Database, kinds: Sequence[Portable]) -> None:
        self._database = database
        self._kinds = {portable.kind: portable for portable in kinds}

    def __call__(self, kinds: Sequence[str], after: str | None, caller: Caller, *, limit: int) -> list[bytes]:
        """Return the lines of a page; the last one says where to go on.

        That line is ``{"kind": "page", "after": ..., "kinds": [...]}``, with the kinds that are being read, or at the
        end ``{"kind": "end", "after": ..., "kinds": [...], "changed": [...]}``: those that are named last changed
        while they were read. An export that goes on after an end repeats the kinds that have changed since they were
        read, each whole, and no others.

        Parameters
        ----------
        kinds : sequence of str
            What is exported; none stands for all. With `after` those of that export.
        limit : int
            Rows of a page.

        Raises
        ------
        InvalidInput
            `after` is none that an export gave, or of other kinds.
        """
        start = self._start(kinds, after)

        def read(session: Session) -> list[bytes]:
            cursor = start if start.todo else self._begun(session, start, caller)
            return self._page(session, cursor, caller, limit)

        return self._database.snapshot(read)

    def _start(self, kinds: Sequence[str], after: str | None) -> Cursor:
        if unknown := [kind for kind in kinds if kind not in self._kinds]:
            raise InvalidInput("kind", f"{unknown[0][:64]!r} is not one of {', '.join(self._kinds)}")
        if after is None:
            return Cursor({kind: "" for kind in self._kinds if kind in kinds or not kinds})
        cursor = Cursor.parse(after)
        if not set(cursor.versions) <= set(self._kinds):
            raise InvalidInput("after", "is that of another version's export: leave it out to begin again")
        if kinds and set(kinds) != set(cursor.versions):
            raise InvalidInput("kind", f"is {', '.join(cursor.versions)} where `after` was given: leave it out")
        return cursor

    def _begun(self, session: Session, cursor: Cursor, caller: Caller) -> Cursor:
        """Return where an export begins: with the kinds that differ from what was read of them."""
        now = self._versions(session, cursor, caller)
        todo = tuple(kind for kind, version in now.items() if version != cursor.versions[kind])
        return Cursor(now, todo, todo)

    def _page(self, session: Session, cursor: Cursor, caller: Caller, limit: int) -> list[bytes]:
        page = _Page(limit, [])
        todo, after = list(cursor.todo), cursor.after
        while todo:
            for key, line in self._rows(session, todo[0], after, page, caller):
                if not page.take({"kind": todo[0], **line}):
                    return [*page.lines, _last(replace(cursor, todo=tuple(todo), after=after))]
                after = key
            if page.is_full:
                return [*page.lines, _last(replace(cursor, todo=tuple(todo), after=after))]
            todo, after = todo[1:], 0
        now = self._versions(session, cursor, caller)
        changed = [kind for kind, version in now.items() if version != cursor.versions[kind]]
        return [*page.lines, _last(replace(cursor, todo=(), after=0), changed)]

    def _rows(
        self, session: Session, kind: str, after: int, page: _Page, caller: Caller
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the rows of a kind after a key until there are no more, or the page has no room."""
        while not page.is_full:
            where = Slice(caller.org_id, after, min(_AT_ONCE, page.limit - len(page.lines)), max(page.room, 1))
            rows = self._kinds[kind].page(session, where)
            yield from rows
            if not rows:
                return
            after = rows[-1].key

    def _versions(self, session: Session, cursor: Cursor, caller: Caller) -> dict[str, str]:
        return {kind: self._kinds[kind].version(session, caller.org_id) for kind in cursor.versions}


def _last(cursor: Cursor, changed: Sequence[str] | None = None) -> bytes:
    on = {"after": str(cursor), "kinds": list(cursor.kinds)}
    if changed is None:
        return _to_bytes({"kind": PAGE_END, **on})
    return _to_bytes({"kind": END, **on, "changed": list(changed)})


def _to_bytes(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
