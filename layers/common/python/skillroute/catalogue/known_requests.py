"""Requests that the package brings for the tools of public MCP servers (docs/adr/0067).

`training/known_requests.py` makes the file: a line a tool, with its name, its server's, the beginning of its
description and the requests.
"""

from __future__ import annotations

import gzip
import json
from functools import cached_property
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

_LEAST_WORDS = 5
"""Words that a description must have to tell, without its server's name, which tool it is."""

_NOISE = frozenset({"mcp", "server", "the", "official"})

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

    def of(self, content: ItemContent) -> tuple[ToolRequest, ...]:
        """Return the requests of a tool that is known by name and description; none of another."""
        if not self._is_on or content.key.type != "tool":
            return ()
        best, found = 0.0, list[str]()
        for server, description, requests in self._by_name.get(name_key(content.key.name), ()):
            agrees = _agreement(content, server, description)
            if agrees > best:
                best, found = agrees, requests
        return tuple(ToolRequest(text, "packaged") for text in found)

    @cached_property
    def _by_name(self) -> dict[str, list[Known]]:
        packed = files(__package__).joinpath("known_requests.jsonl.gz").read_bytes()
        by_name: dict[str, list[Known]] = {}
        for line in gzip.decompress(packed).splitlines():
            name, server, description, requests = json.loads(line)
            by_name.setdefault(name_key(name), []).append((server, description, requests))
        return by_name


NOTHING_KNOWN = KnownRequests(is_on=False)


def _agreement(content: ItemContent, server: str, description: str) -> float:
    """Return the share of common words where a tool is the one that is known; 0 where it is not."""
    is_same_server = not _server_words(content.key.server).isdisjoint(_server_words(server))
    own, known = _words(content.description), _words(description)
    if not own and not known:
        return float(is_same_server)
    share = len(own & known) / len(own | known)
    if is_same_server:
        return share if share >= _SAME_SERVER else 0.0
    return share if share >= _ANY_SERVER and len(known) >= _LEAST_WORDS else 0.0


def _words(description: str) -> set[str]:
    return set(split_name(description[:KNOWN_DESCRIPTION]).split())


def _server_words(server: str) -> set[str]:
    return set(split_name(server).split()) - _NOISE
