"""The registered servers of tools, read from the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.documents.collection import collection_named
from skillroute.core.documents.index.ahead import Matching
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.rights.conditions import seen_servers

_REGISTRY = collection_named("mcp_registry")
"""Of another slice, with which this one shares the index and nothing else."""


@dataclass(frozen=True, slots=True)
class RegisteredServer:
    """The server of a tool, as the registry has it."""

    path: str
    is_enabled: bool


class RegisteredServers:
    """The servers of some tools, looked up together: of each tool's own organisation, by the server's name.

    Parameters
    ----------
    tools : payloads of tools
    """

    def __init__(self, index: SearchedIndex, tools: Iterable[Mapping[str, Any]], caller: Caller) -> None:
        self._known: dict[tuple[str, str], RegisteredServer] = {}
        for asked in servers_of(tools, caller):
            keys = index.match(_REGISTRY, where=asked.where, limit=asked.limit)
            for found in index.payloads(_REGISTRY, keys).values():
                server = RegisteredServer(found["path"], found["is_enabled"] == "true")
                self._known[found["org_id"], server.path] = server

    def of(self, tool: Mapping[str, Any]) -> RegisteredServer | None:
        """Return the server of a tool; None where the registry does not have it."""
        return self._known.get((tool["org_id"], _path(tool)))


def servers_of(tools: Iterable[Mapping[str, Any]], caller: Caller) -> list[Matching]:
    """Return what is asked for the servers of tools: nothing where none has any."""
    paths = sorted({_path(tool) for tool in tools if tool["server"]})
    if not paths:
        return []
    of_all = IndexFilter({**visible_to(caller).any_of, "kind": ["server"], "path": paths})
    return [Matching(_REGISTRY, seen_servers(caller.rights, of_all), len(paths) * len(caller.visible_orgs))]


def _path(tool: Mapping[str, Any]) -> str:
    return f"/{tool['server']}"
