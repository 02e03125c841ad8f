"""The tools that an agent sees under names of their own, in addition to those that `connect` itself has."""

from __future__ import annotations

import threading
from collections.abc import Collection

from skillroute.mcp.fit import Json

from skillroute_local.connect.catalogue import Catalogue, Item
from skillroute_local.connect.hints import hinted
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
        self._owners: dict[str, str] = {}  # by the name under which it was shown: the id of a tool
        self._lock = threading.Lock()

    def item(self, name: str) -> Item | None:
        """Return the tool that is listed under a name, or was; None where there is none.

        An agent may call by a list that it read before `auto` began to hold tools back.
        """
        id_ = self._owners.get(name)
        return self._catalogue.item(id_) if id_ is not None else None

    def was_shown(self, name: str) -> bool:
        """Return whether a tool has been listed under a name."""
        return name in self._owners

    def tools(self) -> dict[str, tuple[Item, bool]]:
        """Return what is listed, by names, and whether it is pinned; a name that was shown keeps its tool."""
        if not self._offer.shows_tools:
            return {}
        tools = by_id(self._catalogue.items())
        pins = pinned(self._offer.pins, tools)
        shown = [*pins, *tools] if self._offer.exposes_all(len(tools)) else pins
        are_pinned = {item.id for item in pins}
        with self._lock:
            names = named(shown, self._own, self._owners)
            self._owners = self._owners | {name: item.id for name, item in names.items()}
        return {name: (item, item.id in are_pinned) for name, item in names.items()}

    def definitions(self) -> list[Json]:
        """Return what is listed as MCP lists it. Takes long where tools are many."""
        shown = [
            hinted(definition(name, item), item, is_pinned=is_pinned)
            for name, (item, is_pinned) in self.tools().items()
        ]
        if self._offer.shown_chars is None:
            return shown
        # The beginning of an answer has no structured content, without which clients refuse it where there is a schema.
        return [{field: value for field, value in tool.items() if field != "outputSchema"} for tool in shown]
