"""Turning what was found into the answer of registry-search-design (Result Structure), with its diagnostics."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from skillroute.core.answer_size import SEARCH_BYTES
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.search_run import SearchRun
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.search.candidates import Candidates
from skillroute.registry.search.fit import Fitted, fitted
from skillroute.registry.search.model import (
    MAX_EXPLAINED,
    AgentMatch,
    EntityType,
    MatchingTool,
    RegistryDegradation,
    RegistrySearchMetadata,
    RegistrySearchMode,
    RegistrySearchRequest,
    RegistrySearchResponse,
    RegistryToolMatch,
    ScoreBreakdown,
    ServerMatch,
)
from skillroute.registry.search.plan import RegistryPlan
from skillroute.registry.search.repository import RegistryScope, RegistrySearchRepository, ToolDetails
from skillroute.registry.search.scoring import Scored
from skillroute.registry.search.tools import GradedTool

MATCHING_TOOLS = 10
"""The most tools that a server names."""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was scored."""

    mode: RegistrySearchMode
    entities: Mapping[EntityKind, Candidates]
    tools: Sequence[GradedTool] = ()

    def ranked(self, kind: EntityKind) -> Sequence[Scored]:
        return self.entities[kind].ranked if kind in self.entities else ()

    def candidates(self, most: int | None = None) -> Iterator[Scored]:
        """Return all of them or `most` of each type, best first within each type: servers, tools, agents."""
        yield from self.ranked("server")[:most]
        yield from (tool.scored for tool in self.tools[:most])
        yield from self.ranked("agent")[:most]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The results that are returned."""

    servers: Sequence[Scored]
    tools: Sequence[GradedTool]
    agents: Sequence[Scored]
    matching: Mapping[int, Sequence[GradedTool]]


@dataclass(frozen=True, slots=True)
class Details:
    """The details of returned results that only the database has."""

    entities: Mapping[int, Entity] = field(default_factory=dict)
    tools: Mapping[int, ToolDetails] = field(default_factory=dict)


def chosen(request: RegistrySearchRequest, found: Found) -> Chosen:
    """Cut to the best of each type that was asked for, now that all are scored (Score-Before-Filter)."""

    def best(type_: EntityType, ranked: Sequence[Scored]) -> Sequence[Scored]:
        return ranked[: request.max_results] if type_ in request.entity_types else ()

    matches = [tool for tool in found.tools if tool.is_match]
    servers = best("mcp_server", found.ranked("server"))
    return Chosen(
        servers=servers,
        tools=matches[: request.max_results] if "tool" in request.entity_types else (),
        agents=best("a2a_agent", found.ranked("agent")),
        matching=_matching(servers, matches),
    )


def _matching(servers: Sequence[Scored], matches: Sequence[GradedTool]) -> dict[int, list[GradedTool]]:
    """Return the best of each server's tools that match."""
    matching: dict[int, list[GradedTool]] = {server.id: [] for server in servers}
    for tool in matches:
        best = matching.get(tool.server_id)
        if best is not None and len(best) < MATCHING_TOOLS:
            best.append(tool)
    return matching


def load(database: Database, chosen: Chosen, scope: RegistryScope) -> Details:
    """Load what is shown, and nothing else. Raises `DatabaseUnavailable`."""
    tools = {tool.scored.id for tool in chosen.tools}
    tools |= {tool.scored.id for of_server in chosen.matching.values() for tool in of_server}
    # The servers of the tools as well, though they need not be in the answer themselves.
    entities = {entity.id for entity in (*chosen.servers, *chosen.agents)} | {tool.server_id for tool in chosen.tools}
    if not entities:
        return Details()
    cards, schemas = [agent.id for agent in chosen.agents], [tool.scored.id for tool in chosen.tools]

    def read(session: Session) -> Details:
        registry = RegistrySearchRepository(session)
        return Details(
            registry.found(sorted(entities), scope, with_documents=cards, room=SEARCH_BYTES),
            registry.tool_details(sorted(tools), with_schemas=schemas, room=SEARCH_BYTES) if tools else {},
        )

    return database.read(read)


def response(
    run: SearchRun, request: RegistrySearchRequest, plan: RegistryPlan, found: Found, chosen: Chosen, details: Details
) -> RegistrySearchResponse:
    """Put the answer together; what was deleted a moment ago is left out."""
    entities = details.entities
    shown = fitted(
        [_server(server, entities[server.id], chosen, details) for server in chosen.servers if server.id in entities],
        [_tool(tool, details) for tool in chosen.tools if _is_there(tool, details)],
        [_agent(agent, entities[agent.id]) for agent in chosen.agents if agent.id in entities],
        [_breakdown(candidate) for candidate in found.candidates(MAX_EXPLAINED)] if request.explain else None,
        # What had no room in the question to PostgreSQL has none in the answer either.
        {id_ for id_, tool in details.tools.items() if not tool.had_room},
    )
    # Straight from our own tables: validating documents and schemas again would cost more than the search.
    return RegistrySearchResponse.model_construct(
        query=request.query,
        search_mode=found.mode,
        servers=shown.servers,
        tools=shown.tools,
        agents=shown.agents,
        metadata=_metadata(run, plan, found, shown),
        explain=shown.explain,
    )


def log_scores(found: Found) -> None:
    """Write the line of every candidate (Diagnostic Logging)."""
    for candidate in found.candidates():
        parts = _breakdown(candidate)
        # repr keeps a name with line breaks on the line.
        logger.debug(
            f"Score for {candidate.name!r} (type={candidate.type}): vector={_decimals(parts.vector)}, "
            f"normalized_vector={_decimals(parts.normalized_vector)}, text_boost={parts.text_boost:.1f}, "
            f"boost_contrib={_decimals(parts.boost_contrib)}, final={_decimals(parts.final)}"
        )


def are_scores_logged() -> bool:
    return logger.log_level <= logging.DEBUG


def _decimals(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _breakdown(scored: Scored) -> ScoreBreakdown:
    score = scored.score
    return ScoreBreakdown.model_construct(
        type=scored.type,
        name=scored.name,
        path=scored.path,
        vector=score.vector,
        normalized_vector=score.normalized_vector,
        text_boost=score.text_boost,
        boost_contrib=score.boost_contrib,
        tool_contrib=score.tool_contrib,
        vector_rank=score.vector_rank,
        keyword_rank=score.keyword_rank,
        reranker_logit=score.reranker_logit,
        unclamped=score.unclamped,
        final=score.final,
    )


def _server(scored: Scored, entity: Entity, chosen: Chosen, details: Details) -> ServerMatch:
    content = entity.content
    return ServerMatch.model_construct(
        id=entity.id,
        path=content.path,
        server_name=content.name,
        description=content.description,
        tags=list(content.tags),
        is_enabled=entity.is_enabled,
        num_tools=entity.tool_count,
        relevance_score=scored.score.final,
        matching_tools=[
            MatchingTool.model_construct(
                tool_name=tool.scored.name,
                description=details.tools[tool.scored.id].description,
                relevance_score=tool.scored.score.final,
                tool_id=tool.scored.id,
                annotations=details.tools[tool.scored.id].annotations,
            )
            for tool in chosen.matching[scored.id]
            if tool.scored.id in details.tools
        ],
    )


def _is_there(tool: GradedTool, details: Details) -> bool:
    return tool.scored.id in details.tools and tool.server_id in details.entities


def _tool(tool: GradedTool, details: Details) -> RegistryToolMatch:
    content, entity = details.tools[tool.scored.id], details.entities[tool.server_id]
    server = entity.content
    return RegistryToolMatch.model_construct(
        db_id=tool.scored.id,
        server_path=server.path,
        server_name=server.name,
        tool_name=tool.scored.name,
        description=content.description,
        inputSchema=content.input_schema,
        relevance_score=tool.scored.score.final,
        tool_id=tool.scored.id,
        server_is_enabled=entity.is_enabled,
        annotations=content.annotations,
    )


def _agent(scored: Scored, entity: Entity) -> AgentMatch:
    content = entity.content
    return AgentMatch.model_construct(
        id=entity.id,
        path=content.path,
        agent_name=content.name,
        description=content.description,
        tags=list(content.tags),
        skills=[skill.name for skill in content.skills],
        is_enabled=entity.is_enabled,
        relevance_score=scored.score.final,
        agent_card=content.document,
    )


def _metadata(run: SearchRun, plan: RegistryPlan, found: Found, shown: Fitted) -> RegistrySearchMetadata:
    watch = run.watch
    return RegistrySearchMetadata.model_construct(
        keywords=list(plan.query.keywords),
        tags=list(plan.query.tags),
        fusion=plan.fusion,
        index=run.index,
        degraded=cast(list[RegistryDegradation], run.degraded),  # nothing else can fail here
        schemas_omitted=shown.schemas_omitted,
        cards_omitted=shown.cards_omitted,
        descriptions_cut=shown.descriptions_cut,
        explain_omitted=shown.explain_omitted,
        candidate_count=sum(candidates.count for candidates in found.entities.values()),
        query_embedding_time_ms=watch.ms("query_embedding"),
        vector_search_time_ms=watch.ms("vector_search"),
        keyword_search_time_ms=watch.ms("keyword_search"),
        tool_search_time_ms=watch.ms("tool_search"),
        rerank_time_ms=watch.ms("rerank"),
        load_time_ms=watch.ms("load"),
        index_sync_time_ms=watch.ms("index_sync"),
        total_time_ms=watch.total_ms(),
    )
