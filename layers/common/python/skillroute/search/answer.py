"""Turning what was found into the answer of search-contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillroute.domain.caller import Caller
from skillroute.domain.index import Collection
from skillroute.domain.items import ItemSchemas
from skillroute.domain.search import (
    EnrichedTool,
    SearchMetadata,
    SearchRequest,
    SearchResponse,
    SkillMatch,
    ToolMatch,
)
from skillroute.domain.skills import SkillKey, id_in_key
from skillroute.ports import VectorIndex
from skillroute.search.retrieve import Candidate
from skillroute.search.run import SearchRun
from skillroute.search.seen import unseen

_NO_SCHEMAS = ItemSchemas(None, None, None)


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate that is returned, with what the index knows of it, and those of its skills that are not shown."""

    candidate: Candidate
    payload: Mapping[str, Any]
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MatchedSkill:
    """A skill that the query matched: what its tools are found by, and what is said of it."""

    key: SkillKey
    said: SkillMatch


@dataclass(frozen=True, slots=True)
class Found:
    """What stages 1 and 2 found: the matched skills, how many candidates there were, and those that are returned."""

    skills: Sequence[MatchedSkill] = ()
    candidate_count: int = 0
    hits: Sequence[Hit] = ()


def with_payloads(index: VectorIndex, collection: Collection, candidates: Sequence[Candidate]) -> list[Hit]:
    """Look up what the index knows of candidates; those deleted a moment ago are left out."""
    payloads = index.payloads(collection, [candidate.key for candidate in candidates])
    return [Hit(candidate, payloads[candidate.key]) for candidate in candidates if candidate.key in payloads]


def tool_hits(index: VectorIndex, candidates: Sequence[Candidate], caller: Caller) -> list[Hit]:
    """Look up what the index knows of candidates that are tools, and which of their skills the caller sees."""
    hits = with_payloads(index, Collection.TOOLS, candidates)
    hidden = unseen(index, {key for hit in hits for key in hit.payload["skill_keys"]}, caller)
    return [replace(hit, unseen=hidden) for hit in hits] if hidden else hits


def matched_skill(hit: Hit, tool_count: int) -> MatchedSkill:
    """Return a matched skill with what the API says of it (search-contract BR-002)."""
    key = SkillKey(hit.candidate.key)
    said = SkillMatch(
        id=id_in_key(key),
        name=hit.payload["name"],
        description=hit.payload["description"],
        score=hit.candidate.score,
        tool_count=tool_count,
    )
    return MatchedSkill(key, said)


def tool_match(hit: Hit) -> ToolMatch:
    """Return what the API says of a matched item, without schemas."""
    return ToolMatch.model_construct(**_tool_fields(hit))


def enriched_tool(hit: Hit, schemas: Mapping[int, ItemSchemas]) -> EnrichedTool:
    """Return what the API says of a matched item; without schemas all three are null (decisions 12)."""
    found = schemas.get(hit.payload["db_id"], _NO_SCHEMAS)
    # Straight from our own tables: validating schemas again would cost more than the search.
    return EnrichedTool.model_construct(
        **_tool_fields(hit),
        input_schema=found.input_schema,
        output_schema=found.output_schema,
        annotations=found.annotations,
    )


def response(run: SearchRun, request: SearchRequest, found: Found, tools: Sequence[EnrichedTool]) -> SearchResponse:
    """Put the answer together, with all metadata of search-contract BR-007."""
    watch = run.watch
    metadata = SearchMetadata(
        strategy_used=request.strategy,
        search_mode=run.search_mode,
        skill_ids_used=[skill.said.id for skill in found.skills] or None,
        fallback_reason=run.fallback_reason,
        degraded=run.degraded,
        stage1_skill_count=len(found.skills),
        stage2_candidate_count=found.candidate_count,
        final_count=len(tools),
        query_embedding_time_ms=watch.ms("query_embedding"),
        skill_search_time_ms=watch.ms("skill_search"),
        tool_search_time_ms=watch.ms("tool_search"),
        schema_load_time_ms=watch.ms("schema_load"),
        index_sync_time_ms=watch.ms("index_sync"),
        total_time_ms=watch.total_ms(),
    )
    return SearchResponse.model_construct(
        query=request.query, tools=list(tools), matched_skills=[skill.said for skill in found.skills], metadata=metadata
    )


def _tool_fields(hit: Hit) -> dict[str, Any]:
    candidate, payload = hit.candidate, hit.payload
    primary = payload["primary_skill_key"]
    return {
        "id": candidate.key,
        "db_id": payload["db_id"],
        "type": payload["type"],
        "name": payload["name"],
        "description": payload["description"],
        "server": payload["server"] or None,
        "score": candidate.score,
        "similarity": candidate.similarity,
        "skill_ids": [id_in_key(key) for key in payload["skill_keys"] if key not in hit.unseen],
        "primary_skill_id": None if primary is None or primary in hit.unseen else id_in_key(primary),
    }
