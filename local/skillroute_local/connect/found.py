"""The tools that each session has found or called last, which it sees under names of their own."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Mapping, Sequence

from skillroute_local.connect.catalogue import Catalogue, Item
from skillroute_local.connect.kept import Session
from skillroute_local.connect.pins import by_id, named

MAX_SESSIONS = 200
"""Of which it is known what they found. One that is forgotten, used longest ago, finds anew."""


class Found:
    """The last finds of each session. Safe to call from several threads.

    Parameters
    ----------
    most : int
        How many tools of a session are kept: the oldest leave.
    """

    def __init__(self, most: int, catalogue: Catalogue) -> None:
        self._most = most
        self._catalogue = catalogue
        self._ids: dict[Session, list[str]] = {}  # the newest last
        self._names: dict[Session, dict[str, str]] = {}  # by the name under which it was shown: the id of a tool
        self._lock = threading.Lock()

    def note(self, session: Session, ids: Sequence[str]) -> bool:
        """Note what a session has found, best first; return whether that changes what it sees.

        Requests without a session have nothing that it could be kept for.
        """
        if session is None or not self._most:
            return False
        items = [item for item in map(self._catalogue.item, ids) if item is not None and item.listed.kind == "tool"]
        new = list(dict.fromkeys(item.id for item in items))[: self._most][::-1]
        with self._lock:
            before = self._ids.pop(session, [])
            after = [*(id_ for id_ in before if id_ not in new), *new][-self._most :]
            self._ids[session] = after
            while len(self._ids) > MAX_SESSIONS:
                oldest = next(iter(self._ids))
                del self._ids[oldest]
                self._names.pop(oldest, None)
        return set(after) != set(before)

    def tools(self, session: Session, taken: Iterable[str], shown: Mapping[str, str]) -> dict[str, Item]:
        """Return what a session has found, by names.

        Parameters
        ----------
        taken : iterable of str
            Names that other tools have or had.
        shown : mapping
            The ids of tools that all sessions see, by names.
        """
        with self._lock:
            ids = set(self._ids.get(session, ())) - set(shown.values())
            if not ids:
                return {}
            taken = set(taken)
            own = {name: id_ for name, id_ in self._names.get(session, {}).items() if name not in taken}
            found = by_id(item for item in map(self._catalogue.item, ids) if item is not None)
            names = named(found, taken, own)
            self._names[session] = own | {name: item.id for name, item in names.items()}
        return names

    def sessions_with(self, ids: Container[str]) -> list[Session]:
        """Return the sessions of which at least one of some tools is kept."""
        with self._lock:
            return [session for session, kept in self._ids.items() if any(id_ in ids for id_ in kept)]

    def id_of(self, session: Session, name: str) -> str | None:
        """Return the id of the tool that a session has seen under a name."""
        return self._names.get(session, {}).get(name)
