"""Turning what was found into the answer of search-contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.catalogue.model import ItemSchemas
from skillroute.core.answer_size import SEARCH_BYTES, TEXT_BYTES, shortened, size_of
from skillroute.search.answer.schemas import Schemas
from skillroute.search.candidates.candidate import Found, Hit
from skillroute.search.model import EnrichedTool, SearchMetadata, SearchRequest, SearchResponse, ToolMatch
from skillroute.search.run import ToolSearchRun
from skillroute.skills.model import id_in_key

_NO_SCHEMAS = ItemSchemas(None, None, None)

_BESIDE = 10_000
"""Bytes that everything else of a result has at most: a name and a server of 256 characters, and five skills."""


@dataclass(frozen=True, slots=True)
class Described:
    """The descriptions of items as they are returned.

    Attributes
    ----------
    texts : sequence of str
        One for each item, in order.
    is_cut : bool
        Some had no room, and are cut.
    room : int
        The bytes that are left for schemas.
    """

    texts: Sequence[str]
    is_cut: bool
    room: int


@dataclass(frozen=True, slots=True)
class Enriched:
    """The results as the API returns them, and what of them there was no room for (decision 36)."""

    tools: Sequence[EnrichedTool]
    schemas_omitted: Sequence[str] = ()
    descriptions_cut: bool = False


def tool_matches(hits: Sequence[Hit]) -> tuple[list[ToolMatch], bool]:
    """Return what the API says of matched items, without schemas, and whether descriptions were cut."""
    texts, is_cut = _descriptions(hits)
    return [ToolMatch.model_construct(**_tool_fields(hit, text)) for hit, text in zip(hits, texts, strict=True)], is_cut


def described(hits: Sequence[Hit], beside: int = 0) -> Described:
    """Return the descriptions of items as they are returned, and the room that they leave for schemas.

    `beside` are the bytes of what else the answer has.
    """
    texts, is_cut = _descriptions(hits)
    return Described(texts, is_cut, SEARCH_BYTES - sum(map(size_of, texts)) - _BESIDE * len(hits) - beside)


def enriched(hits: Sequence[Hit], described: Described, loaded: Schemas) -> Enriched:
    """Return what the API says of matched items; of those without schemas all three are null (decision 12)."""
    shown = _that_fit(hits, described.room, loaded)
    # Straight from our own tables: validating schemas again would cost more than the search.
    tools = [
        EnrichedTool.model_construct(
            **_tool_fields(hit, text), **_schema_fields(shown.get(hit.payload["db_id"], _NO_SCHEMAS))
        )
        for hit, text in zip(hits, described.texts, strict=True)
    ]
    left_out = loaded.left_out | (loaded.by_id.keys() - shown.keys())
    return Enriched(tools, [tool.id for tool in tools if tool.db_id in left_out], described.is_cut)


def _that_fit(hits: Sequence[Hit], room: int, loaded: Schemas) -> Mapping[int, ItemSchemas]:
    """Return the schemas of the first hits, as many as fit on the way; what was loaded was measured as it is stored."""
    if 2 * loaded.size <= room:  # on the way no byte becomes more than two
        return loaded.by_id
    shown: dict[int, ItemSchemas] = {}
    for hit in hits:
        found = loaded.by_id.get(hit.payload["db_id"])
        if found is not None:
            room -= sum(map(size_of, _schema_fields(found).values()))
            if room < 0:
                break
            shown[hit.payload["db_id"]] = found
    return shown


def _schema_fields(schemas: ItemSchemas) -> dict[str, Any]:
    return {
        "input_schema": schemas.input_schema,
        "output_schema": schemas.output_schema,
        "annotations": schemas.annotations,
    }


def _descriptions(hits: Sequence[Hit]) -> tuple[list[str], bool]:
    texts = [hit.payload["description"] for hit in hits]
    shown = shortened(texts, TEXT_BYTES)
    return shown, shown != texts


def response(run: ToolSearchRun, request: SearchRequest, found: Found, shown: Enriched) -> SearchResponse:
    """Put the answer together, with all metadata of search-contract BR-007."""
    watch, tools = run.watch, shown.tools
    metadata = SearchMetadata(
        search_id=None if run.search_id is None else str(run.search_id),
        strategy_used=request.strategy,
        search_mode=run.search_mode,
        index=run.index,
        skill_ids_used=[skill.match.id for skill in found.skills] or None,
        fallback_reason=run.fallback_reason,
        degraded=run.degraded,
        confidence=run.confidence,
        confidence_first_five=run.confidence_first_five,
        no_match=run.no_match,
        fit=run.fit,
        language=run.language,
        language_unknown_to_model=run.language_unknown_to_model,
        schemas_omitted=shown.schemas_omitted,
        descriptions_cut=shown.descriptions_cut,
        stage1_skill_count=len(found.skills),
        stage2_candidate_count=found.candidate_count,
        final_count=len(tools),
        query_embedding_time_ms=watch.ms("query_embedding"),
        skill_search_time_ms=watch.ms("skill_search"),
        tool_search_time_ms=watch.ms("tool_search"),
        rerank_time_ms=watch.ms("rerank"),
        schema_load_time_ms=watch.ms("schema_load"),
        index_sync_time_ms=watch.ms("index_sync"),
        total_time_ms=watch.total_ms(),
    )
    return SearchResponse.model_construct(
        query=request.query,
        tools=list(tools),
        matched_skills=[skill.match for skill in found.skills],
        metadata=metadata,
    )


def _tool_fields(hit: Hit, description: str) -> dict[str, Any]:
    candidate, payload = hit.candidate, hit.payload
    primary = payload["primary_skill_key"]
    return {
        "id": candidate.key,
        "db_id": payload["db_id"],
        "tool_id": payload["db_id"],
        "type": payload["type"],
        "name": payload["name"],
        "description": description,
        "server": payload["server"] or None,
        "server_path": hit.server and hit.server.path,
        "server_is_enabled": hit.server and hit.server.is_enabled,
        "score": candidate.score,
        "similarity": candidate.similarity,
        "skill_ids": [id_in_key(key) for key in payload["skill_keys"] if key not in hit.unseen],
        "primary_skill_id": None if primary is None or primary in hit.unseen else id_in_key(primary),
    }
