"""The entities of the registry: MCP servers and A2A agents (registry-search-design, Entity Types)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from skillroute.catalogue.model import JsonObject
from skillroute.core.bulk.versions import version_of

EntityKind = Literal["server", "agent"]
SeenOutcome = Literal["seen", "doubted", "failed", "left_out"]
"""The result of asking a server for its tools (docs/trust.md)."""


class AgentSkill(NamedTuple):
    """The searched fields of an A2A agent's skill; its id, tags and examples are not searched."""

    name: str
    description: str


class ServerTool(NamedTuple):
    """The searched fields of a server's tool; `id` is the catalogue's."""

    id: int
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class EntityContent:
    """The content of a server or an agent as its owner wrote it.

    Attributes
    ----------
    path : str
        What makes it one entity within its organisation and kind: ``/context7``. The catalogue's tools of a server have
        the path without its slash as their `server`.
    capabilities, skills
        Of agents only.
    document : mapping
        All of it as it came, given back and not searched: a ``server.json``, an agent card.
    """

    kind: EntityKind
    path: str
    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    skills: tuple[AgentSkill, ...] = ()
    document: JsonObject = field(default_factory=dict)

    @property
    def tools_server(self) -> str:
        """The `server` of the catalogue's tools that come with this server; others may name it otherwise."""
        return self.path.removeprefix("/")

    @property
    def own_name(self) -> str | None:
        """The name that its document has, where it is shown by its title."""
        inner = self.document.get("server")
        name = self.document.get("name", inner.get("name") if isinstance(inner, dict) else None)
        return name if isinstance(name, str) else None


@dataclass(frozen=True, slots=True)
class Entity:
    """A server or an agent as it is stored. `tool_count` counts a server's active tools; an agent has none.

    `item_servers` is what items have as their `server` that means it; searches leave it empty.
    `seen_outcome`, `seen_at` and `seen_error` are of the last time that a server was asked for its tools; the error is
    for its own organisation.
    """

    id: int
    org_id: str | None
    content: EntityContent
    is_enabled: bool
    is_embedded: bool
    tool_count: int
    created_at: datetime
    updated_at: datetime
    item_servers: tuple[str, ...] = ()
    seen_outcome: SeenOutcome | None = None
    seen_at: datetime | None = None
    seen_error: str | None = None

    @property
    def version(self) -> str:
        """The version of what its owner wrote, and of whether it is enabled; a server's tools have their own."""
        return version_of(self.updated_at)


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """Which entities a listing shows. None means no condition; `tag` in any case."""

    kind: EntityKind
    path: str | None = None
    tag: str | None = None
    is_enabled: bool | None = None
    seen_outcome: SeenOutcome | None = None


def tag_key(tag: str) -> str:
    """Return what a tag is compared by: people write ``#Docs`` for docs."""
    return tag.strip().removeprefix("#").casefold()
