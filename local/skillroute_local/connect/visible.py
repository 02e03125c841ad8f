"""The tools that an agent sees under names of their own, in addition to those that `connect` itself has."""

from __future__ import annotations

import threading
from collections.abc import Collection, Container, Sequence

from skillroute.mcp.fit import Json

from skillroute_local.connect.catalogue import Catalogue, Item
from skillroute_local.connect.found import Found
from skillroute_local.connect.hints import hinted
from skillroute_local.connect.kept import Session
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.pins import by_id, definition, named, pinned


class Visible:
    """Which tools are listed, and under which names. Safe to call from several threads.

    Parameters
    ----------
    offer : Offer
    catalogue : Catalogue
    own : collection of str
        The names of the tools of `connect` itself.
    """

    def __init__(self, offer: Offer, catalogue: Catalogue, own: Collection[str]) -> None:
        self._offer = offer
        self._catalogue = catalogue
        self._own = own
        self._found = Found(offer.found, catalogue)
        self._owners: dict[str, str] = {}  # by the name under which it was shown: the id of a tool
        self._lock = threading.Lock()

    def item(self, name: str, session: Session) -> Item | None:
        """Return the tool that a session sees under a name, or saw; None where there is none.

        An agent may call by a list that it read before, from which the tool has gone since.
        """
        id_ = self._owners.get(name) or self._found.id_of(session, name)
        return self._catalogue.item(id_) if id_ is not None else None

    def was_shown(self, name: str, session: Session) -> bool:
        """Return whether a tool has been listed under a name."""
        return name in self._owners or self._found.id_of(session, name) is not None

    def note_found(self, session: Session, ids: Sequence[str]) -> bool:
        """Note what a session has found or called, best first; return whether that changes what it sees."""
        return self._found.note(session, ids)

    def sessions_that_found(self, ids: Container[str]) -> list[Session]:
        """Return the sessions that see at least one of some tools because they found or called it."""
        return self._found.sessions_with(ids)

    def tools(self, session: Session = None) -> dict[str, tuple[Item, bool]]:
        """Return what a session sees, by names, and whether it is pinned; a name that was shown keeps its tool."""
        if not self._offer.shows_tools:
            return {}
        tools = by_id(self._catalogue.items())
        pins = pinned(self._offer.pins, tools)
        shown = [*pins, *tools] if self._offer.exposes_all(len(tools)) else pins
        with self._lock:
            names = named(shown, self._own, self._owners)
            seen = {name: item.id for name, item in names.items()}
            self._owners = self._owners | seen
            taken = {*self._own, *self._owners}
        found = self._found.tools(session, taken, seen)
        always = {item.id for item in (*pins, *found.values())}
        return {name: (item, item.id in always) for name, item in (names | found).items()}

    def definitions(self, session: Session = None) -> list[Json]:
        """Return what a session sees as MCP lists it. Takes long where tools are many."""
        shown = [
            hinted(definition(name, item), item, is_pinned=is_pinned)
            for name, (item, is_pinned) in self.tools(session).items()
        ]
        if self._offer.shown_chars is None:
            return shown
        # The beginning of an answer has no structured content, without which clients refuse it where there is a schema.
        return [{field: value for field, value in tool.items() if field != "outputSchema"} for tool in shown]
