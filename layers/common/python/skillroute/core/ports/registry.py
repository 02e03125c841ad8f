"""Servers and agents as the use cases and registry search see them.

`org_id` is the caller's everywhere: it sees global entities and its own, and writes its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from skillroute.catalogue.model import JsonObject
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.ports.embedded_rows import EmbeddedRows, EmbeddingTask, IndexedText
from skillroute.registry.model import Entity, EntityContent, EntityFilter, EntityKind
from skillroute.registry.text import EntitySaid, PlacedWords

LONGEST_SHOWN = 20_000
"""Characters of a description that a search of the registry shows: it may show 700."""


@dataclass(frozen=True, slots=True)
class EntityWritten:
    """What writing an entity did. Neither `created` nor `changed`: it was the same already."""

    id: int
    created: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class RegistryScope:
    """Which entities a search may find.

    Attributes
    ----------
    kinds : sequence of "server" and "agent"
        One or both of them.
    org_id : str or None
        The caller's organisation; global entities and its own are seen.
    tags : sequence of str
        Keys of tags (`domain.registry.tag_key`) that an entity must have, all of them.
    include_disabled : bool
    """

    kinds: Sequence[EntityKind]
    org_id: str | None
    tags: Sequence[str] = ()
    include_disabled: bool = False


@dataclass(frozen=True, slots=True)
class KeywordHit:
    """An entity, and how well keywords describe it.

    Attributes
    ----------
    boost : float
        The sum over keywords and places.
    coverage : float
        How much of the query it covers, 0..1: the mean over the keywords of ``b / (b + HALF_COVERED)``, `b` being the
        boost of one keyword; to nine decimals. 0 from a search that is not by coverage.
    """

    id: int
    kind: EntityKind
    path: str
    name: str
    boost: float
    coverage: float


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """What a keyword search found.

    Attributes
    ----------
    hits : sequence of KeywordHit
        The best of each kind, by what was asked for, then path.
    named : sequence of KeywordHit
        Those beyond them that the query names.
    totals : mapping
        How many of each kind contain a keyword.
    """

    hits: Sequence[KeywordHit]
    named: Sequence[KeywordHit]
    totals: Mapping[EntityKind, int]


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool of a server, and how many of the keywords occur in its name or description."""

    id: int
    entity_id: int
    name: str
    keyword_count: int


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """What is shown of a tool that was found; its schema is None where it has none, and where it had no room."""

    description: str
    input_schema: JsonObject | None
    had_room: bool = True


class RegistryRepository(EmbeddedRows, Protocol):
    """Servers and agents, and the words they are found by.

    Locks are taken in one order everywhere, entities first (by path), then tools, so that writers wait for each other
    instead of deadlocking.
    """

    def upsert(
        self, org_id: str | None, content: EntityContent, content_hash: str, *, is_enabled: bool | None
    ) -> EntityWritten:
        """Create or change an entity and hold it to the end of the transaction.

        `is_enabled` None leaves it as it is; a new one is enabled.
        """
        ...

    def get(self, kind: EntityKind, entity_id: int, org_id: str | None) -> Entity | None: ...

    def page(self, where: EntityFilter, org_id: str | None, *, limit: int, offset: int) -> tuple[list[Entity], int]:
        """Return a page by path, then id, and how many entities there are in all."""
        ...

    def delete(self, kind: EntityKind, entity_id: int, org_id: str | None) -> bool:
        """Delete an entity of exactly this organisation, and nothing else; False when there is none."""
        ...

    def set_enabled(self, kind: EntityKind, entity_id: int, org_id: str | None, *, is_enabled: bool) -> bool:
        """Enable or disable an entity of exactly this organisation; False when there is none."""
        ...

    def hold_servers(self, org_id: str | None, tools_servers: Sequence[str], *, to_register: bool = False) -> list[int]:
        """Hold the servers whose tools say `server` so, to the end of the transaction; return their ids.

        Of those that are not registered the registration waits as well: who registers one says so, and then waits for
        everybody who writes its tools.
        """
        ...

    def hold(self, entity_ids: Sequence[int]) -> None:
        """Hold entities to the end of the transaction."""
        ...

    def ids(self, *, after: int, limit: int) -> list[int]:
        """Return ids of all entities of all organisations, ascending."""
        ...

    def said(self, entity_ids: Sequence[int]) -> dict[int, EntitySaid]:
        """Return what entities say, with their active tools by name; unknown ids are left out."""
        ...

    def set_found_by(self, entity_id: int, text: IndexedText, words: Sequence[PlacedWords]) -> None:
        """Store what an entity is found by. A text that changed takes the vector with it; the same one keeps it."""
        ...

    def words(self, entity_ids: Sequence[int]) -> dict[int, list[PlacedWords]]:
        """Return the stored words, by place and tool; entities without any are left out."""
        ...

    def text_hashes(self, entity_ids: Sequence[int]) -> dict[int, str]:
        """Return the hashes of the texts that are stored; unknown ids are left out."""
        ...

    def tasks(self, entity_ids: Sequence[int]) -> list[EmbeddingTask]:
        """Return those of these entities that have no vector."""
        ...

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        """Return how many entities have no vector of `model`."""
        ...

    def keyword_search(
        self,
        keywords: Sequence[str],
        scope: RegistryScope,
        *,
        limit: int | None,
        names: Sequence[str] = (),
        by_coverage: bool = False,
    ) -> KeywordHits:
        """Return the entities that contain a keyword, the best `limit` of each kind and their ties; None returns all.

        The best are those of the highest boost, or of the highest coverage. `names` are keys of names
        (`domain.names.name_key`): what is called so comes as well.

        Keywords are matched literally, as parts of words, in lower case.
        """
        ...

    def tagged(self, scope: RegistryScope, *, limit: int) -> KeywordHits:
        """Return what has the tags of a scope, `limit` of each kind at most, by path and with boosts of 0."""
        ...

    def boosts(self, keywords: Sequence[str], entity_ids: Sequence[int]) -> dict[int, KeywordHit]:
        """Return the boosts of these entities, 0 included; those that are gone are left out."""
        ...

    def tools_of(self, keywords: Sequence[str], entity_ids: Sequence[int]) -> list[ToolHit]:
        """Return the tools of these servers, by id."""
        ...

    def inactive_vectors(self, tool_ids: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of those of these tools that are inactive, and so in no index; of the stored model."""
        ...

    def found(self, entity_ids: Sequence[int], *, with_documents: Sequence[int] = (), room: int) -> dict[int, Entity]:
        """Return the entities that a search shows; those that are gone are left out.

        Documents are there of `with_documents` only, in their order, as many as have room together: in every document
        there is something. Descriptions of more than `LONGEST_SHOWN` characters are cut, and end in ….
        """
        ...

    def tool_details(
        self, tool_ids: Sequence[int], *, with_schemas: Sequence[int] = (), room: int
    ) -> dict[int, ToolDetails]:
        """Return what is shown of tools; those that are gone are left out.

        Schemas are there of `with_schemas` only, in their order, as many as have room together; descriptions as `found`
        has them.
        """
        ...
