"""Reads the sources of a command line: each source with how it is read, in the order in which they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skillroute_local.client import Written
from skillroute_local.importing.content import content_of
from skillroute_local.importing.formats import read
from skillroute_local.importing.git_source import read_repository, shown
from skillroute_local.importing.model import Choices
from skillroute_local.importing.objects import read_named
from skillroute_local.importing.running import is_client_file, is_config, read_one
from skillroute_local.importing.source import Read
from skillroute_local.importing.watch import Watched

LIST_EVERY_S = 60.0
"""Seconds after which MCP servers are listed again where they are watched: those of programs are started for it."""


CLONE_EVERY_S = 600.0
"""Seconds after which repositories are cloned again where they are watched."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source that is wanted."""

    name: str
    kind: Written
    read: Read
    watched: Watched


def wanted(
    named: Mapping[Written, Sequence[Path]],
    mcp: str | None,
    choices: Choices,
    format_name: str | None,
    *,
    watch: bool,
    git: Sequence[str] = (),
) -> list[Wanted]:
    """Return the sources in the order of `named`; repositories and an MCP server come after the files of items."""
    found = []
    for kind, paths in named.items():
        for path in paths:
            if kind == "items":
                found.append(_file(path, choices, format_name, watch=watch))
            else:
                found.append(Wanted(path.name, kind, partial(read_named, path, kind), Watched(path)))
        if kind == "items":
            for address in git:
                read_it = partial(read_repository, address, choices)
                found.append(Wanted(shown(address), "agent_skills", read_it, Watched(None, CLONE_EVERY_S)))
        if kind == "items" and mcp is not None:
            name = choices.server or "--mcp"
            found.append(Wanted(name, kind, partial(read_one, mcp, choices), Watched(None, LIST_EVERY_S)))
    return found


def _file(path: Path, choices: Choices, format_name: str | None, *, watch: bool) -> Wanted:
    every_s = LIST_EVERY_S if watch and _starts(path, format_name) else None
    read_it = partial(read, path, choices, name=format_name)
    return Wanted(path.name, "items", read_it, Watched(path, every_s))


def _starts(path: Path, format_name: str | None) -> bool:
    """Return whether a file is read as an `mcp.json`."""
    is_meant = format_name == "mcp-config" or (format_name is None and is_client_file(path))
    return is_meant and is_config(content_of(path))
