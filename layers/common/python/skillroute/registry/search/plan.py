"""The plan of a registry search."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.catalogue.mentions import Named, plain
from skillroute.catalogue.names import name_key
from skillroute.core.caller import Caller
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.rights.conditions import seen_servers
from skillroute.registry.model import EntityKind
from skillroute.registry.search import query
from skillroute.registry.search.model import (
    ENTITY_TYPES,
    MIN_CANDIDATES,
    TYPE_OF_KIND,
    EntityType,
    Fusion,
    RegistrySearchRequest,
)
from skillroute.registry.search.query import ParsedQuery
from skillroute.registry.search.repository import RegistryScope
from skillroute.registry.search.scoring import Score


@dataclass(frozen=True, slots=True)
class RegistryPlan:
    """The plan of one search: text, types, filters and ranking.

    Attributes
    ----------
    max_results : int
        Of each type.
    with_tools : bool
        Tools are graded: they are asked for, or servers are, which name those of theirs that match.
    types : frozenset of EntityType
        What is asked for.
    reranks : bool
        A reranker looks at the first of each type.
    show_all : bool
        Every candidate is scored, also those that cannot get into the answer.
    """

    query: ParsedQuery
    caller: Caller
    scope: RegistryScope
    fusion: Fusion
    max_results: int
    with_tools: bool
    show_all: bool
    types: frozenset[EntityType] = frozenset(ENTITY_TYPES)
    reranks: bool = False

    @property
    def nearest(self) -> int:
        """How many nearest neighbours of each kind are candidates (HNSW Tuning)."""
        return max(3 * self.max_results, MIN_CANDIDATES)

    def names(self, name: str, score: Score) -> bool:
        """Return whether the query names a server or agent of the highest relevance; elsewhere it does not matter."""
        return score.final == 1.0 and not self.query.names.isdisjoint({name_key(name), plain(name)})

    def names_tool(self, name: str, path: str, score: Score) -> bool:
        """Return whether the query names a tool, of the server with a path, that has the highest relevance."""
        return score.final == 1.0 and bool(self.query.mentions.named([Named("", name, path)]))

    @property
    def servers_with_tools(self) -> int:
        """How many of the best servers have their tools graded. More find nothing better (benchmarks, registry)."""
        return min(self.nearest, max(15, 5 * self.max_results))

    def where(self, kind: EntityKind) -> IndexFilter:
        """Return the conditions of the vector search for one kind."""
        any_of = {"kind": [kind], **visible_to(self.caller).any_of}
        if not self.scope.include_disabled:
            any_of["is_enabled"] = ["true"]
        where = IndexFilter(any_of, {"tags": self.scope.tags})
        return seen_servers(self.caller.rights, where) if kind == "server" else where


def plan(request: RegistrySearchRequest, caller: Caller, *, default_fusion: Fusion, show_all: bool) -> RegistryPlan:
    """Make the plan of a request. Tools are looked for in servers, so those are searched for them."""
    wanted = set(request.entity_types)
    with_tools = not wanted.isdisjoint({"mcp_server", "tool"})
    kinds: list[EntityKind] = ["server"] if with_tools else []
    if TYPE_OF_KIND["agent"] in wanted:
        kinds.append("agent")
    parsed = query.parse(request.query, request.tags)
    return RegistryPlan(
        query=parsed,
        caller=caller,
        scope=RegistryScope(kinds, caller.org_id, caller.rights, parsed.tags, request.include_disabled),
        fusion=request.fusion or default_fusion,
        max_results=request.max_results,
        with_tools=with_tools,
        show_all=show_all,
        types=frozenset(request.entity_types),
        reranks=request.mode == "hybrid_rerank",
    )
