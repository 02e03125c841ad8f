"""Requests that the package brings for the tools of public MCP servers (docs/adr/0067).

`training/known_requests.py` makes the file: a line a tool, with its name, its server's, the beginning of its
description and the requests.
"""

from __future__ import annotations

import gzip
import json
from functools import cache, lru_cache
from importlib.resources import files

from skillroute.catalogue.model import ItemContent, ToolRequest
from skillroute.catalogue.names import name_key
from skillroute.catalogue.text import split_name

KNOWN_DESCRIPTION = 200
"""How much of a description is kept and compared, in characters."""

_SAME_SERVER = 0.5
"""The least share of common words at which descriptions agree, for a tool of a server of that name."""

_ANY_SERVER = 0.8
"""The same where the server is called otherwise: everybody names servers in their own files."""

_MIN_WORDS = 5
"""Words that a description must have to tell, without its server's name, which tool it is."""

_NOISE = frozenset({"mcp", "server", "the", "official"})

_REMEMBERED = 1000
"""Tools of which it is remembered whether they are known: those of two calls."""

Known = tuple[str, str, list[str]]
"""A server's name, the beginning of the description, and the requests."""


class KnownRequests:
    """The packaged requests. Nothing is read before the first tool is looked for.

    Parameters
    ----------
    is_on : bool
        Else no tool is known.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        # An item is looked for several times while it is written.
        self._found = lru_cache(_REMEMBERED)(self._search)

    def of(self, content: ItemContent) -> tuple[ToolRequest, ...]:
        """Return the requests of a tool that is known by name and description; none of another."""
        if not self._is_on or content.key.type != "tool":
            return ()
        return self._found(name_key(content.key.name), content.key.server, content.description[:KNOWN_DESCRIPTION])

    def _search(self, key: str, server: str, description: str) -> tuple[ToolRequest, ...]:
        best, found = 0.0, list[str]()
        for known_server, known_description, requests in _packaged().get(key, ()):
            agrees = _agreement(server, description, known_server, known_description)
            if agrees > best:
                best, found = agrees, requests
        return tuple(ToolRequest(text, "packaged") for text in found)


@cache
def _packaged() -> dict[str, list[Known]]:
    """Return what the package brings, by the names of tools: read once in a process, for it takes 60 ms."""
    packed = files(__package__).joinpath("known_requests.jsonl.gz").read_bytes()
    by_name: dict[str, list[Known]] = {}
    for line in gzip.decompress(packed).splitlines():
        name, server, description, requests = json.loads(line)
        by_name.setdefault(name_key(name), []).append((server, description, requests))
    return by_name


NOTHING_KNOWN = KnownRequests(is_on=False)


def _agreement(server: str, description: str, known_server: str, known_description: str) -> float:
    """Return the share of common words where a tool is the one that is known; 0 where it is not."""
    is_same_server = not _server_words(server).isdisjoint(_server_words(known_server))
    own, known = _words(description), _words(known_description)
    if not own and not known:
        return float(is_same_server)
    share = len(own & known) / len(own | known)
    if is_same_server:
        return share if share >= _SAME_SERVER else 0.0
    return share if share >= _ANY_SERVER and len(known) >= _MIN_WORDS else 0.0


def _words(description: str) -> set[str]:
    return set(split_name(description).split())


def _server_words(server: str) -> set[str]:
    return set(split_name(server).split()) - _NOISE
