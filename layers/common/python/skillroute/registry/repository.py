"""The rows of mcp.registry_entities and mcp.registry_words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.catalogue.model import JsonObject
from skillroute.catalogue.names import name_key
from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.documents.checks import Finding
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.postgres.converters import array
from skillroute.core.postgres.database import Session
from skillroute.registry.model import AgentSkill, Entity, EntityContent, EntityFilter, EntityKind, ServerTool, tag_key
from skillroute.registry.search.model import BOOSTS, HALF_COVERED
from skillroute.registry.text import EntityText, Place, PlacedWords

LONGEST_SHOWN = 20_000
"""Characters of a description that a search of the registry shows: it may show 700."""


@dataclass(frozen=True, slots=True)
class EntityWritten:
    """The effect of writing an entity. Neither `created` nor `changed`: it was the same already."""

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
        Keys of tags (`model.tag_key`) that an entity must have, all of them.
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
    """The results of a keyword search.

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
    """The details of a tool that was found; its schema is None where it has none, and where it had no room."""

    description: str
    input_schema: JsonObject | None
    had_room: bool = True


_BOOSTS = f"{{{','.join(str(BOOSTS[place]) for place in sorted(Place))}}}"


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

    def get(self, kind: EntityKind, entity_id: int, org_id: str | None) -> Entity | None:
        rows = self._run("get_entity", kind=kind, id=entity_id, org_id=org_id)
        return _to_entity(rows[0]) if rows else None

    def page(self, where: EntityFilter, org_id: str | None, *, limit: int, offset: int) -> tuple[list[Entity], int]:
        """Return a page by path, then id, and how many entities there are in all."""
        conditions = {
            "kind": where.kind,
            "org_id": org_id,
            "path": where.path,
            "tag": None if where.tag is None else tag_key(where.tag),
            "is_enabled": where.is_enabled,
        }
        total: int = self._run("count_entities", **conditions)[0][0]
        if offset >= total:
            return [], total
        rows = self._run("list_entities", **conditions, limit=limit, offset=offset, max_bytes=PAGE_BYTES)
        return [_to_entity(row) for row in rows], total

    def delete(self, kind: EntityKind, entity_id: int, org_id: str | None) -> bool:
        """Delete an entity of exactly this organisation, and nothing else; False when there is none."""
        return bool(self._run("delete_entity", kind=kind, id=entity_id, org_id=org_id))

    def set_enabled(self, kind: EntityKind, entity_id: int, org_id: str | None, *, is_enabled: bool) -> bool:
        """Enable or disable an entity of exactly this organisation; False when there is none."""
        return bool(self._run("set_entity_enabled", kind=kind, id=entity_id, org_id=org_id, is_enabled=is_enabled))

    def lock_servers(self, org_id: str | None, tools_servers: Sequence[str], *, to_register: bool = False) -> list[int]:
        """Lock the servers that tools name as `server`, to the end of the transaction; return their ids.

        The registration of one that is not there waits as well: with `to_register` the call waits for all who write its
        tools.
        """
        paths = sorted({f"/{server}" for server in tools_servers if server})
        if not paths:
            return []
        self._run("claim_paths" if to_register else "share_paths", org_id=org_id, paths=paths)
        return [row[0] for row in self._run("lock_servers", org_id=org_id, paths=paths)]

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
        (`names.name_key`): what is called so comes as well.

        Keywords are matched literally, as parts of words, in lower case.
        """
        looked_for = [
            (word, array([trigram + org for trigram in _trigrams(word)]))
            for word in keywords
            for org in dict.fromkeys(("", scope.org_id or ""))
        ]
        rows = self._run(
            "keyword_search",
            words=[word for word, _ in looked_for],
            trigrams=[trigrams for _, trigrams in looked_for],
            keyword_count=len(keywords),
            boosts=_BOOSTS,
            half=HALF_COVERED,
            by_coverage=by_coverage,
            kind=scope.kinds[0] if len(scope.kinds) == 1 else None,
            org_id=scope.org_id,
            include_disabled=scope.include_disabled,
            tags=list(scope.tags),
            limit=limit,
            names=list(names),
        )[0][0]
        best: list[KeywordHit] = []
        named: list[KeywordHit] = []
        totals: dict[EntityKind, int] = {}
        for entity_id, kind, path, name, boost, coverage, total, is_best in rows or ():
            # JSON has whole numbers where a boost is one.
            hit = KeywordHit(entity_id, kind, path, name, float(boost), float(coverage))
            (best if is_best else named).append(hit)
            totals[kind] = total
        return KeywordHits(best, named, totals)

    def tagged(self, scope: RegistryScope, *, limit: int) -> KeywordHits:
        """Return what has the tags of a scope, `limit` of each kind at most, by path and with boosts of 0."""
        hits = [
            KeywordHit(entity_id, kind, path, name, boost=0.0, coverage=0.0)
            for kind in scope.kinds
            for entity_id, path, name in self._run(
                "tagged_entities",
                org_id=scope.org_id,
                include_disabled=scope.include_disabled,
                kind=kind,
                tags=list(scope.tags),
                limit=limit,
            )
        ]
        return KeywordHits(hits, [], Counter(hit.kind for hit in hits))

    def boosts(self, keywords: Sequence[str], entity_ids: Sequence[int]) -> dict[int, KeywordHit]:
        """Return the boosts of these entities, 0 included; those that are gone are left out."""
        rows = self._run(
            "keyword_boosts", keywords=list(keywords), boosts=_BOOSTS, half=HALF_COVERED, ids=list(entity_ids)
        )
        return {row[0]: KeywordHit(*row) for row in rows}

    def tools_of(self, keywords: Sequence[str], entity_ids: Sequence[int]) -> list[ToolHit]:
        """Return the tools of these servers, by id."""
        rows = self._run("keyword_tools", keywords=list(keywords), ids=list(entity_ids))[0][0]
        return [ToolHit(*row) for row in rows or ()]

    def inactive_vectors(self, tool_ids: Sequence[int], model: EmbeddingModel) -> dict[int, Vector]:
        """Return the vectors of a model of those of these tools that are inactive, and so in no index."""
        rows = self._run("inactive_vectors", ids=list(tool_ids), model=model.name, dimension=model.dimension)
        return {id_: from_bytes(data) for id_, data in rows}

    def found(self, entity_ids: Sequence[int], *, with_documents: Sequence[int] = (), room: int) -> dict[int, Entity]:
        """Return the entities that a search shows; those that are gone are left out.

        Documents are there of `with_documents` only, in their order, as many as have room together: in every document
        there is something. Descriptions of more than `LONGEST_SHOWN` characters are cut, and end in ….
        """
        rows = self._run(
            "found_entities",
            ids=list(entity_ids),
            with_documents=list(with_documents),
            room=room,
            longest=LONGEST_SHOWN,
        )
        return {row[0]: _to_entity(row) for row in rows}

    def tool_details(
        self, tool_ids: Sequence[int], *, with_schemas: Sequence[int] = (), room: int
    ) -> dict[int, ToolDetails]:
        """Return what is shown of tools; those that are gone are left out.

        Schemas are there of `with_schemas` only, in their order, as many as have room together; descriptions as `found`
        has them.
        """
        rows = self._run(
            "tool_details", ids=list(tool_ids), with_schemas=list(with_schemas), room=room, longest=LONGEST_SHOWN
        )
        return {row[0]: ToolDetails(*row[1:]) for row in rows}


def _words_as_json(words: Iterable[PlacedWords]) -> str:
    rows = [{"place": int(place), "tool_id": tool_id, "words": text} for place, tool_id, text in words]
    return json.dumps(rows, ensure_ascii=False)


def _trigrams(keyword: str) -> list[str]:
    """Return trigrams that a keyword is made of, side by side, the last one overlapping.

    What has them is checked for the keyword; all of its trigrams would leave little less to check, and take longer.
    """
    starts = [*range(0, len(keyword) - 2, 3), len(keyword) - 3]
    return sorted({keyword[start : start + 3] for start in starts})


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


def _to_entity(row: list[Any]) -> Entity:
    id_, org_id, *columns, document, is_enabled, is_embedded, created_at, updated_at, tool_count = row
    return Entity(
        id=id_,
        org_id=org_id,
        content=_to_content(columns, document or {}),
        is_enabled=is_enabled,
        is_embedded=is_embedded,
        tool_count=tool_count,
        created_at=created_at,
        updated_at=updated_at,
    )
