"""Reading the registry as an MCP registry shows it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any

from skillroute.core.answer_size import PAGE_BYTES, size_of
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import not_found_code
from skillroute.core.errors.model import NotFound
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import Rights
from skillroute.registry.published.detail import published
from skillroute.registry.published.entries import Entry, Registered, entries_of

LATEST = "latest"
"""Stands for the latest version of a server."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries a page shows; all conditions must hold.

    Attributes
    ----------
    search : str or None
        A part of the name or the title, in any case.
    version : str or None
        One version, or `LATEST`.
    updated_since : datetime or None
        With it, disabled servers are shown too, so that copies learn of them.
    with_disabled : bool
        Whether disabled servers are shown, as deleted ones.
    """

    search: str | None = None
    version: str | None = None
    updated_since: datetime | None = None
    with_disabled: bool = False

    def has(self, entry: Entry) -> bool:
        """Return whether the conditions hold of an entry."""
        if not (entry.is_enabled or self.with_disabled or self.updated_since):
            return False
        if self.search and not any(self.search.casefold() in text.casefold() for text in (entry.name, entry.title)):
            return False
        if self.version and not (entry.is_latest if self.version == LATEST else entry.version == self.version):
            return False
        return self.updated_since is None or entry.updated_at >= self.updated_since


Place = tuple[str, str]
"""The name and version of the last entry of a page."""

_READ_AT_ONCE = 10

MAX_VERSIONS = 100
"""Versions of a server that are listed, the newest ones; any other is read by its name."""
_MAX_REMEMBERED = 16  # organisations


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """A page of entries as the API answers them, and the entry that the next page follows, if there is one."""

    servers: list[dict[str, Any]]
    last: Entry | None


class PublishedRegistry:
    """`/v0.1/servers`: what a caller sees of the registry."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # By organisation: making them reads the documents of all servers, and where the registry is open anyone asks.
        self._remembered: OrderedDict[tuple[str | None, Rights], tuple[str, list[Entry]]] = OrderedDict()
        self._lock = Lock()

    def page(self, wanted: Wanted, caller: Caller, *, limit: int, after: Place | None = None) -> PublishedPage:
        """Return a page of entries by name, of one name the newest version first."""

        def read(session: Session) -> PublishedPage:
            entries = [entry for entry in self._entries(session, caller) if wanted.has(entry)]
            behind = entries[0 if after is None else _behind(entries, after) :]
            servers: list[dict[str, Any]] = []
            last, room = behind[0] if behind else None, PAGE_BYTES
            # A few at a time: a document may be large.
            for start in range(0, min(limit, len(behind)), _READ_AT_ONCE):
                for entry, shown in _shown(session, caller, behind[start : min(start + _READ_AT_ONCE, limit)]):
                    room -= size_of(shown)
                    if room < 0 and servers:
                        return PublishedPage(servers, last)
                    servers.append(shown)
                    last = entry
            return PublishedPage(servers, last if len(behind) > limit else None)

        return self._database.read(read)

    def versions(self, name: str, caller: Caller, *, with_disabled: bool = False) -> list[dict[str, Any]]:
        """Return all versions of a server, the newest first. Raises `NotFound`."""

        def read(session: Session) -> list[dict[str, Any]]:
            found = self._of_name(session, caller, name, with_disabled=with_disabled)
            servers: list[dict[str, Any]] = []
            room = PAGE_BYTES
            for _, shown in _shown(session, caller, found[:MAX_VERSIONS]):
                room -= size_of(shown)
                if room < 0 and servers:
                    break  # the API has no pages here, and the oldest are wanted least
                servers.append(shown)
            return servers

        return self._database.read(read)

    def version(self, name: str, version: str, caller: Caller, *, with_disabled: bool = False) -> dict[str, Any]:
        """Return one version of a server, or the `LATEST`. Raises `NotFound`."""

        def read(session: Session) -> dict[str, Any]:
            found = self._of_name(session, caller, name, with_disabled=with_disabled)
            meant = [each for each in found if (each.is_latest if version == LATEST else each.version == version)]
            shown = _shown(session, caller, meant[:1])
            if not shown:  # it never was, or was deleted just now
                raise NotFound(f"server {name} has no version {version}", not_found_code("server"))
            return shown[0][1]

        return self._database.read(read)

    def _entries(self, session: Session, caller: Caller) -> list[Entry]:
        # First: what is written meanwhile has another version.
        version: str = session.run(
            "version_of_published_servers", org_id=caller.org_id, rights=caller.rights.as_json()
        )[0][0]
        with self._lock:
            remembered = self._remembered.get((caller.org_id, caller.rights))
        if remembered is not None and remembered[0] == version:
            return remembered[1]
        entries = entries_of(
            [
                Registered(*row)
                for row in session.run("published_servers", org_id=caller.org_id, rights=caller.rights.as_json())
            ]
        )
        with self._lock:
            self._remembered[caller.org_id, caller.rights] = version, entries
            self._remembered.move_to_end((caller.org_id, caller.rights))
            if len(self._remembered) > _MAX_REMEMBERED:
                self._remembered.popitem(last=False)
        return entries

    def _of_name(self, session: Session, caller: Caller, name: str, *, with_disabled: bool) -> list[Entry]:
        every = self._entries(session, caller)
        found = [each for each in every if each.name == name and (each.is_enabled or with_disabled)]
        if not found:
            raise NotFound(f"no server has the name {name}", not_found_code("server"))
        return found


def _behind(entries: Sequence[Entry], after: Place) -> int:
    """Return where the entries behind a place begin, also where its own has gone meanwhile."""
    for place, entry in enumerate(entries):
        if (entry.name, entry.version) == after:
            return place + 1
    # Versions of its name may come twice then; leaving one out would be worse.
    return next((place for place, entry in enumerate(entries) if entry.name >= after[0]), len(entries))


def _shown(session: Session, caller: Caller, entries: Sequence[Entry]) -> list[tuple[Entry, dict[str, Any]]]:
    rows = session.run(
        "published_documents", org_id=caller.org_id, rights=caller.rights.as_json(), ids=[entry.id for entry in entries]
    )
    found = {row[0]: row[1:] for row in rows}
    return [
        (entry, published(entry, name=name, description=description, document=document, created_at=created_at))
        for entry in entries
        if entry.id in found
        for name, description, document, created_at in [found[entry.id]]
    ]
