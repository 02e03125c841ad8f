"""The rows of mcp.registry_entities and mcp.registry_words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from skillroute.catalogue.model import JsonObject
from skillroute.catalogue.names import name_key
from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.documents.checks import Finding
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.registry.model import AgentSkill, Entity, EntityContent, EntityFilter, EntityKind, ServerTool, tag_key
from skillroute.registry.text import EntityText, Place, PlacedWords


class AmbiguousName(NamedTuple):
    """The `server` of items, and the paths of the servers that it may name."""

    name: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityWritten:
    """The effect of writing an entity. Neither `created` nor `changed`: it was the same already."""

    id: int
    created: bool
    changed: bool


class RegistryRepository:
    """Servers and agents, and the words they are found by.

    Locks are taken in one order everywhere, entities first (by path), then tools, so that writers wait for each other
    instead of deadlocking.
    """

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def upsert(
        self, org_id: str | None, content: EntityContent, content_hash: str, *, is_enabled: bool | None
    ) -> EntityWritten:
        """Create or change an entity and lock it to the end of the transaction.

        `is_enabled` None leaves it as it is; a new one is enabled.
        """
        key = {"org_id": org_id, "kind": content.kind, "path": content.path}
        rows = self._run(
            "upsert_entity",
            **key,
            name=content.name,
            name_key=name_key(content.name),
            description=content.description,
            tags=list(content.tags),
            tag_keys=[tag_key(tag) for tag in content.tags],
            capabilities=list(content.capabilities),
            skills=json.dumps([skill._asdict() for skill in content.skills]),
            document=json.dumps(content.document, ensure_ascii=False),
            is_enabled=is_enabled,
            content_hash=content_hash,
        )
        if rows:
            entity_id, created = rows[0]
            return EntityWritten(entity_id, created, changed=not created)
        # It is there: ON CONFLICT has locked it, though there was nothing to write.
        return EntityWritten(self._run("lock_entity", **key)[0][0], created=False, changed=False)

    def get(self, kind: EntityKind, entity_id: int, org_id: str | None, *, rights: Rights) -> Entity | None:
        rows = self._run("get_entity", kind=kind, id=entity_id, org_id=org_id, rights=rights.as_json())
        return to_entity(rows[0]) if rows else None

    def page(
        self, where: EntityFilter, org_id: str | None, *, limit: int, offset: int, rights: Rights
    ) -> tuple[list[Entity], int]:
        """Return a page by path, then id, and how many entities there are in all."""
        listed = self.listed(where, org_id, Order("path"), limit=limit, offset=offset, rights=rights)
        return list(listed.rows), listed.total

    def listed(
        self,
        where: EntityFilter,
        org_id: str | None,
        order: Order,
        *,
        limit: int,
        offset: int,
        rights: Rights,
    ) -> Listed[Entity]:
        """Return a page in an order (`path`, `name`, `id` or `updated_at`), and how many entities there are."""
        conditions = {
            "kind": where.kind,
            "org_id": org_id,
            "rights": rights.as_json(),
            "path": where.path,
            "tag": None if where.tag is None else tag_key(where.tag),
            "is_enabled": where.is_enabled,
            "seen_outcome": where.seen_outcome,
            **order.params(),
        }
        [[total, behind]] = self._run("count_entities", **conditions)
        if offset >= behind:
            return Listed([], total, 0)
        rows = self._run("list_entities", **conditions, limit=limit, offset=offset, max_bytes=PAGE_BYTES)
        return Listed([to_entity(row) for row in rows], total, behind - offset)

    def delete(self, kind: EntityKind, entity_id: int, org_id: str | None) -> bool:
        """Delete an entity of exactly this organisation, and nothing else; False when there is none."""
        return bool(self._run("delete_entity", kind=kind, id=entity_id, org_id=org_id))

    def set_enabled(self, kind: EntityKind, entity_id: int, org_id: str | None, *, is_enabled: bool) -> bool:
        """Enable or disable an entity of exactly this organisation; False when there is none."""
        return bool(self._run("set_entity_enabled", kind=kind, id=entity_id, org_id=org_id, is_enabled=is_enabled))

    def lock_servers(self, org_id: str | None, tools_servers: Sequence[str]) -> list[int]:
        """Lock the servers that tools name as `server`, to the end of the transaction; return their ids.

        The registration of one that is not there waits as well.
        """
        names = sorted({server for server in tools_servers if server})
        if not names:
            return []
        self._run("share_names", org_id=org_id, names=names)
        return [row[0] for row in self._run("lock_servers", org_id=org_id, names=names)]

    def lock_to_register(self, org_id: str | None, servers: Sequence[EntityContent]) -> list[int]:
        """Lock servers that are to be written, and those that share a name with them; return the ids of what is there.

        It waits for all who write their tools.
        """
        if not servers:
            return []
        called = [{"path": each.path, "name": each.name, "of_document": each.own_name} for each in servers]
        keys = [row[0] for row in self._run("claim_names", org_id=org_id, servers=json.dumps(called))]
        return [row[0] for row in self._run("lock_namesakes", org_id=org_id, keys=keys)]

    def namesakes(self, server_id: int) -> list[int]:
        """Return the other servers of the organisation that share a name with one."""
        return [row[0] for row in self._run("namesakes", id=server_id)]

    def names_of(self, server_ids: Sequence[int]) -> dict[int, list[str]]:
        """Return by what items name these servers; those that none names are left out."""
        found: dict[int, list[str]] = {}
        for entity_id, name in self._run("names_of_servers", ids=list(server_ids)):
            found.setdefault(entity_id, []).append(name)
        return found

    def ambiguous_names(
        self, server_ids: Sequence[int], org_id: str | None, *, rights: Rights
    ) -> dict[int, list[AmbiguousName]]:
        """Return the names of items that may mean these servers or others, and so mean none.

        Of the servers those are named that a caller of the organisation with these rights sees.
        """
        found: dict[int, list[AmbiguousName]] = {}
        for entity_id, name, paths in self._run(
            "ambiguous_names", ids=list(server_ids), org_id=org_id, rights=rights.as_json()
        ):
            found.setdefault(entity_id, []).append(AmbiguousName(name, tuple(paths or ())))
        return found

    def texts_of(self, servers: Sequence[EntityContent]) -> dict[str, str]:
        """Return what servers say of themselves, by the name that their tools have for them."""
        rows = [{"server": one.tools_server, "name": one.name, "description": one.description} for one in servers]
        return dict(self._run("texts_of_servers", rows=json.dumps(rows)))

    def waiting_items(self, server_ids: Sequence[int], limit: int) -> list[int]:
        """Return ids of items of these servers that wait for a vector."""
        return [id_ for (id_,) in self._run("waiting_items", ids=list(server_ids), limit=limit)]

    def orgs_naming_servers(self) -> list[str | None]:
        """Return the organisations whose items name servers; None stands for global items."""
        return [org_id for (org_id,) in self._run("orgs_naming_servers")]

    def mend_server_texts(self, org_id: str | None) -> None:
        """Let an organisation's items be found by what their servers say, where it is something else that they are."""
        self._run("mend_server_texts", org_id=org_id)

    def disabled_servers(self, server_ids: Sequence[int]) -> set[str]:
        """Return the names, as items have them, of those of these servers that are disabled."""
        return {name for (name,) in self._run("disabled_servers", ids=list(server_ids))}

    def lock(self, entity_ids: Sequence[int]) -> None:
        """Lock entities to the end of the transaction."""
        self._run("lock_entities", ids=list(entity_ids))

    def ids(self, *, after: int, limit: int) -> list[int]:
        """Return ids of all entities of all organisations, ascending."""
        return [row[0] for row in self._run("entity_ids", after=after, limit=limit)]

    def load_sources(self, entity_ids: Sequence[int]) -> dict[int, EntityText]:
        """Return what entities say, with their active tools by name; unknown ids are left out."""
        ids = list(entity_ids)
        tools: dict[int, list[ServerTool]] = {}
        for entity_id, tool_id, name, description in self._run("server_tool_sources", ids=ids):
            tools.setdefault(entity_id, []).append(ServerTool(tool_id, name, description))
        return {
            row[0]: EntityText(_to_content(row[1:], document={}), tools.get(row[0], ()))
            for row in self._run("entity_sources", ids=ids)
        }

    def set_words(self, entity_id: int, words: Sequence[PlacedWords]) -> None:
        """Store the words that an entity is found by."""
        # Only what differs is sent: one tool of a server that has 500 is one row, not 500.
        stored, wanted = set(self.words([entity_id]).get(entity_id, ())), set(words)
        for query, rows in (("delete_stale_words", stored - wanted), ("insert_new_words", wanted - stored)):
            if rows:
                self._run(query, id=entity_id, rows=_words_as_json(sorted(rows)))

    def words(self, entity_ids: Sequence[int]) -> dict[int, list[PlacedWords]]:
        """Return the stored words, by place and tool; entities without any are left out."""
        found: dict[int, list[PlacedWords]] = {}
        for entity_id, place, tool_id, words in self._run("entity_words", ids=list(entity_ids)):
            found.setdefault(entity_id, []).append(PlacedWords(Place(place), tool_id, words))
        return found

    def broken_rules(self, limit: int) -> list[Finding]:
        """Return rows that break a rule, all seen in one snapshot."""
        return [Finding(*row) for row in self._run("broken_registry_rules", limit=limit)]

    def mend_words(self) -> None:
        """Make the words of every server and agent belong to whom it belongs to, and be found when it is."""
        self._run("mend_words")

    def mend_items(self) -> None:
        """Take the items of every disabled server out of searches."""
        self._run("mend_items")


def _words_as_json(words: Iterable[PlacedWords]) -> str:
    rows = [{"place": int(place), "tool_id": tool_id, "words": text} for place, tool_id, text in words]
    return json.dumps(rows, ensure_ascii=False)


def _to_content(row: list[Any], document: JsonObject) -> EntityContent:
    kind, path, name, description, tags, capabilities, skills = row
    return EntityContent(
        kind=kind,
        path=path,
        name=name,
        description=description,
        tags=tuple(tags),
        capabilities=tuple(capabilities),
        skills=tuple(AgentSkill(**skill) for skill in skills),
        document=document,
    )


def to_entity(row: list[Any]) -> Entity:
    """Return an entity from a row of `get_entity`, `list_entities` or `found_entities`."""
    *row, seen_outcome, seen_at, seen_error = row
    id_, org_id, *columns, document, is_enabled, is_embedded, created_at, updated_at, tool_count, item_servers = row
    return Entity(
        id=id_,
        org_id=org_id,
        content=_to_content(columns, document or {}),
        is_enabled=is_enabled,
        is_embedded=is_embedded,
        tool_count=tool_count,
        item_servers=tuple(item_servers),
        created_at=created_at,
        updated_at=updated_at,
        seen_outcome=seen_outcome,
        seen_at=seen_at,
        seen_error=seen_error,
    )
