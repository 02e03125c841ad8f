"""The rows that registry searches read: keywords, near tools, and fields of answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.model import JsonObject
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.postgres.converters import array
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.repository import to_entity
from skillroute.registry.search.model import BOOSTS, HALF_COVERED
from skillroute.registry.text import Place

MAX_ANNOTATIONS_LENGTH = 1_000
"""Bytes of annotations that a search of the registry shows: MCP's five hints have 200, and it may show 700 tools."""

MAX_SHOWN_LENGTH = 20_000
"""Characters of a description that a search of the registry shows: it may show 700."""


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
    rights : Rights
        Of the caller.
    """

    kinds: Sequence[EntityKind]
    org_id: str | None
    rights: Rights
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
    server: str
    name: str
    keyword_count: int


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """The details of a tool that was found; its schema is None where it has none, and where it had no room.

    So are its annotations where they have more than `MAX_ANNOTATIONS_LENGTH` bytes.
    """

    description: str
    input_schema: JsonObject | None
    had_room: bool = True
    annotations: JsonObject | None = None


_BOOSTS = f"{{{','.join(str(BOOSTS[place]) for place in sorted(Place))}}}"


class RegistrySearchRepository:
    """Servers and agents as searches find them."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

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
            (_containing(word), array([trigram + org for trigram in _trigrams(word)]))
            for word in keywords
            for org in dict.fromkeys(("", scope.org_id or ""))
        ]
        rows = self._run(
            "keyword_search",
            patterns=[pattern for pattern, _ in looked_for],
            trigrams=[trigrams for _, trigrams in looked_for],
            keyword_count=len(keywords),
            boosts=_BOOSTS,
            half=HALF_COVERED,
            by_coverage=by_coverage,
            kind=scope.kinds[0] if len(scope.kinds) == 1 else None,
            org_id=scope.org_id,
            rights=scope.rights.as_json(),
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
                rights=scope.rights.as_json(),
                include_disabled=scope.include_disabled,
                kind=kind,
                tags=list(scope.tags),
                limit=limit,
            )
        ]
        return KeywordHits(hits, [], Counter(hit.kind for hit in hits))

    def boosts(self, keywords: Sequence[str], entity_ids: Sequence[int], scope: RegistryScope) -> dict[int, KeywordHit]:
        """Return the boosts of these entities, 0 included; those that are gone are left out."""
        rows = self._run(
            "keyword_boosts",
            keywords=list(keywords),
            boosts=_BOOSTS,
            half=HALF_COVERED,
            ids=list(entity_ids),
            org_id=scope.org_id,
            rights=scope.rights.as_json(),
        )
        return {row[0]: KeywordHit(*row) for row in rows}

    def servers_of(self, tool_ids: Sequence[int], scope: RegistryScope) -> list[tuple[int, int]]:
        """Return pairs of tool and server, of those of these tools whose server is within a scope."""
        rows = self._run(
            "servers_of_tools",
            ids=list(tool_ids),
            org_id=scope.org_id,
            rights=scope.rights.as_json(),
            include_disabled=scope.include_disabled,
            tags=list(scope.tags),
        )
        return [(tool_id, server_id) for tool_id, server_id in rows]

    def tools_of(self, keywords: Sequence[str], entity_ids: Sequence[int], scope: RegistryScope) -> list[ToolHit]:
        """Return the tools of these servers, by id."""
        rows = self._run(
            "keyword_tools",
            keywords=list(keywords),
            ids=list(entity_ids),
            org_id=scope.org_id,
            rights=scope.rights.as_json(),
        )[0][0]
        return [ToolHit(*row) for row in rows or ()]

    def inactive_vectors(self, tool_ids: Sequence[int], model: EmbeddingModel) -> dict[int, Vector]:
        """Return the vectors of a model of those of these tools that are inactive, and so in no index."""
        rows = self._run("inactive_vectors", ids=list(tool_ids), model=model.name, dimension=model.dimension)
        return {id_: from_bytes(data) for id_, data in rows}

    def found(
        self, entity_ids: Sequence[int], scope: RegistryScope, *, with_documents: Sequence[int] = (), room: int
    ) -> dict[int, Entity]:
        """Return the entities that a search shows; those that are gone are left out.

        Documents are there of `with_documents` only, in their order, as many as have room together: in every document
        there is something. Descriptions of more than `MAX_SHOWN_LENGTH` characters are cut, and end in ….
        """
        rows = self._run(
            "found_entities",
            org_id=scope.org_id,
            rights=scope.rights.as_json(),
            ids=list(entity_ids),
            with_documents=list(with_documents),
            room=room,
            longest=MAX_SHOWN_LENGTH,
        )
        return {row[0]: to_entity(row) for row in rows}

    def texts(self, entity_ids: Sequence[int]) -> dict[int, str]:
        """Return the texts that entities are found by, for a reranker; those that are gone are left out."""
        return dict(self._run("entity_texts", ids=list(entity_ids))) if entity_ids else {}

    def tool_details(
        self, tool_ids: Sequence[int], *, with_schemas: Sequence[int] = (), room: int
    ) -> dict[int, ToolDetails]:
        """Return what is shown of tools; those that are gone are left out.

        Schemas are there of `with_schemas` only, in their order, as many as have room together; descriptions as `found`
        has them.
        """
        rows = self._run(
            "tool_details",
            ids=list(tool_ids),
            with_schemas=list(with_schemas),
            room=room,
            longest=MAX_SHOWN_LENGTH,
            longest_annotations=MAX_ANNOTATIONS_LENGTH,
        )
        return {row[0]: ToolDetails(*row[1:]) for row in rows}


def _containing(keyword: str) -> str:
    """Return the pattern of what contains a keyword, literally."""
    literal = re.sub(r"([\\%_])", r"\\\1", keyword)
    return f"%{literal}%"


def _trigrams(keyword: str) -> list[str]:
    """Return trigrams that a keyword is made of, side by side, the last one overlapping.

    What has them is checked for the keyword; all of its trigrams would leave little less to check, and take longer.
    """
    starts = [*range(0, len(keyword) - 2, 3), len(keyword) - 3]
    return sorted({keyword[start : start + 3] for start in starts})
