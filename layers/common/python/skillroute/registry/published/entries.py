"""Registered servers as entries of an MCP registry: names in reverse DNS form, each with its versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillroute.registry.published.version_order import version_order

NO_VERSION = "0.0.0"
"""The version of a server whose document has none, or a range of versions."""

_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_MIN_NAME, _MAX_NAME = 3, 200
_NAMESPACE = "local.skillroute"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]+")
_RANGE = re.compile(r"[\^~<>=*|\s]|(^|\.)[xX](\.|$)|^latest$")
_MAX_VERSION = 255


@dataclass(frozen=True, slots=True)
class Registered:
    """The fields of a registered server that its entry is made of.

    Attributes
    ----------
    is_own : bool
        Whether it is an organisation's, rather than a global one.
    name, own_name : str, str or None
        What it is shown by, and the name that its document has.
    version : str or None
        The version that its document has.
    """

    id: int
    is_own: bool
    path: str
    name: str
    own_name: str | None
    version: str | None
    is_enabled: bool
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """A version of a server in the registry.

    Attributes
    ----------
    name : str
        In reverse DNS form, with one slash.
    is_latest : bool
        Whether it is the latest of its name.
    """

    id: int
    name: str
    title: str
    version: str
    is_enabled: bool
    is_latest: bool
    updated_at: datetime


def name_of(server: Registered) -> str:
    """Return the name of a server's entry: that of its document, if it has the form; else one made of the path.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> name_of(Registered(7, False, "/docs", "Docs", "io.github.acme/docs", "1.0", True, at))
    'io.github.acme/docs'
    >>> name_of(Registered(7, False, "/docs", "Docs", "docs", None, True, at))
    'local.skillroute/docs'
    >>> name_of(Registered(7, False, "/team/docs", "Docs", None, None, True, at))
    'local.skillroute/team-docs-7'
    """
    own = server.own_name or ""
    if _NAME.fullmatch(own) and _MIN_NAME <= len(own) <= _MAX_NAME:
        return own
    path = server.path.strip("/")
    made = _NOT_IN_NAMES.sub("-", path).strip("-")[: _MAX_NAME // 2]
    # What was changed may be another path's too: the id keeps the two apart.
    return f"{_NAMESPACE}/{made}" if made == path else f"{_NAMESPACE}/{made or 'server'}-{server.id}"


def entries_of(servers: Iterable[Registered]) -> list[Entry]:
    """Return the entries by name, of one name the newest version first.

    Of two servers with one name and version an enabled one counts, then the organisation's own, then the first one.
    One that is disabled is the latest only where none is enabled.
    """
    seen: dict[tuple[str, str], Registered] = {}
    for server in sorted(servers, key=lambda each: (not each.is_enabled, not each.is_own, each.id)):
        seen.setdefault((name_of(server), _version_of(server)), server)
    by_name: dict[str, list[tuple[str, Registered]]] = {}
    for (name, version), server in seen.items():
        by_name.setdefault(name, []).append((version, server))
    return [entry for name in sorted(by_name) for entry in _versions(name, by_name[name])]


def _versions(name: str, versions: Sequence[tuple[str, Registered]]) -> list[Entry]:
    newest = sorted(versions, key=lambda each: (version_order(each[0]), each[1].updated_at, each[1].id), reverse=True)
    latest = next((server.id for _, server in newest if server.is_enabled), newest[0][1].id)
    return [
        Entry(server.id, name, server.name, version, server.is_enabled, server.id == latest, server.updated_at)
        for version, server in newest
    ]


def _version_of(server: Registered) -> str:
    version = (server.version or "").strip()
    return version if 0 < len(version) <= _MAX_VERSION and not _RANGE.search(version) else NO_VERSION
