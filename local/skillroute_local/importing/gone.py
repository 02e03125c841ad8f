"""Finds rows that a source no longer lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from skillroute.catalogue.model import ItemContent, ItemKey

from skillroute_local.importing.model import About, Reading, Scope, SkillPath
from skillroute_local.importing.stored import Catalogue, Stored


@dataclass(slots=True)
class Seen:
    """The content of a source: its items, the paths of its Agent Skills, and what was refused."""

    keys: set[ItemKey] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    refused: set[About] = field(default_factory=set)

    def has(self, key: ItemKey) -> bool:
        """Return whether a source has an item, be it in a form that was refused."""
        return key in self.keys or key in self.refused

    def has_skill(self, path: str) -> bool:
        """Return whether a source has an Agent Skill, be it in a form that was refused."""
        return path in self.paths or SkillPath(path) in self.refused

    def lists(self, scope: Scope) -> bool:
        """Return whether a source has anything of a scope. A server that starts badly lists nothing, or no tools."""
        return any(key.server == scope.server and key.type == scope.type for key in self.keys)

    def note(self, content: ItemContent) -> None:
        """Note an item."""
        self.keys.add(content.key)


def scopes_of(reading: Reading, seen: Seen) -> tuple[Sequence[Scope], str | None]:
    """Return what a source lists in full, once it is read; where that is nothing, why."""
    if reading.partial:
        return (), reading.partial
    if None in seen.refused:
        return (), "a part of it could not be read, so what is missing may be there"
    scopes = reading.scopes
    if reading.scopes_of_rows:
        scopes = sorted({Scope(key.server, key.type) for key in seen.keys if key.server})
    if not scopes:
        return (), "its items are of no server: name one with --server"
    scopes = [scope for scope in scopes if scope.server not in seen.refused]
    return scopes, None if any(map(seen.lists, scopes)) else "it lists nothing at all"


def unsure_of(reading: Reading, seen: Seen) -> set[str]:
    """Return the servers of which a source has a part, or nothing though it should: nobody knows all that they have."""
    servers = {about for about in seen.refused if isinstance(about, str)}
    if reading.partial:
        servers.update(scope.server for scope in reading.scopes)
        servers.update(key.server for key in seen.keys)
    return servers


@dataclass(frozen=True, slots=True)
class Gone:
    """The stored rows of a scope (`there`), and those that no source has (`rows`)."""

    scope: Scope
    there: Sequence[Stored]
    rows: Sequence[Stored]


def gone(
    scopes: Iterable[Scope], all_seen: Sequence[Seen], catalogue: Catalogue, may_remove: Callable[[Stored], bool]
) -> Iterator[Gone]:
    """Yield what of scopes none of the sources has; of what may be removed alone, and where there is something."""
    for scope in scopes:
        of_scope = {
            key: row
            for key, row in catalogue.items(scope.server).items()
            if key.type == scope.type and (scope.tag is None or scope.tag in row["tags"])
        }
        rows = [row for key, row in of_scope.items() if not any(seen.has(key) for seen in all_seen)]
        if rows := [row for row in rows if may_remove(row)]:
            yield Gone(scope, [row for row in of_scope.values() if may_remove(row)], rows)
