"""The choices of the person who starts `connect`: which tools agents are shown, and in which form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Exposed = Literal["search", "all", "auto"]
Called = Literal["one", "both", "split"]

AUTO_TOOLS = 20
"""The most tools that `auto` shows by themselves: some 6,400 tokens, as tools of known servers have 319 on average.
Above it models choose worse, and a client that can do so holds tools back."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools that agents are offered, and their form.

    Attributes
    ----------
    pins : tuple of str
        The tools that stay visible: ids, names of tools, or names of servers.
    exposed : str
        ``search``: the others are found by the search. ``all``: they are listed too, for clients that search by
        themselves. ``auto``: as ``all`` while there are `AUTO_TOOLS` at most, else as ``search``.
    called : str
        ``one``: `call_tool` calls what was found. ``split``: in its place `call_tool_read` calls what only reads, and
        `call_tool_write` everything, so that clients can permit the one and ask for the other. ``both``: all three.
    shown_chars : int or None
        The characters of an answer that are shown at once; a longer one is kept aside, to be read on. None: all.
    found : int
        How many of the tools that a session found or called last are listed in it.
    """

    pins: tuple[str, ...] = ()
    exposed: Exposed = "search"
    called: Called = "one"
    shown_chars: int | None = None
    found: int = 0

    @property
    def shows_tools(self) -> bool:
        """Whether tools of servers can be in the list at all."""
        return bool(self.pins) or self.exposed != "search" or self.found > 0

    def exposes_all(self, tools: int) -> bool:
        """Return whether all tools are listed, where there are so many.

        Examples
        --------
        >>> Offer(exposed="all").exposes_all(500), Offer(exposed="auto").exposes_all(AUTO_TOOLS + 1)
        (True, False)
        """
        return self.exposed == "all" or (self.exposed == "auto" and tools <= AUTO_TOOLS)
