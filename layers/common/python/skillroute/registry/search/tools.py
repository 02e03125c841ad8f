"""Tools of the servers that were found, each graded on its own (decision 25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.embedding.model import Vector, dot
from skillroute.core.rights.conditions import seen_items
from skillroute.registry.search import scoring
from skillroute.registry.search.model import BOOSTS
from skillroute.registry.search.plan import RegistryPlan
from skillroute.registry.search.repository import ToolHit
from skillroute.registry.search.scoring import Score, Scored
from skillroute.registry.text import Place

_EVERY_TOOL = 100_000  # of 150 servers at most; counting them would take as long as searching


@dataclass(frozen=True, slots=True)
class GradedTool:
    """A tool with its score. It matches when it contains a keyword, or its cosine is what a tool search asks for."""

    scored: Scored
    server_id: int
    is_match: bool


def cosines(index: SearchedIndex, vector: Vector, plan: RegistryPlan, names: Iterable[str]) -> dict[int, float]:
    """Return the cosines of all tools that have one of these names as `server`, best first. Raises `IndexUnavailable`.

    Two organisations may call a server alike, so there can be some of others' among them: their ids decide.
    """
    names = sorted(set(names))
    everyones = IndexFilter({"type": ["tool"], "server": names, **visible_to(plan.caller).any_of})
    where = seen_items(plan.caller.rights, everyones)
    return {int(hit.key): hit.score for hit in index.search(TOOL_DOCUMENTS, vector, where=where, limit=_EVERY_TOOL)}


def with_inactive(cosines: Mapping[int, float], vector: Vector, inactive: Mapping[int, Vector]) -> dict[int, float]:
    """Return cosines with those of inactive tools, which no index has, best first."""
    return joined(cosines, {tool_id: dot(vector, stored) for tool_id, stored in inactive.items()})


def joined(some: Mapping[int, float], others: Mapping[int, float]) -> dict[int, float]:
    """Return the cosines of both, best first, equal ones by id as the index has them.

    Examples
    --------
    >>> list(joined({9: 0.5, 8: 0.4}, {10: 0.5}))
    [9, 10, 8]
    """
    if not others:
        return dict(some)
    return dict(sorted({**some, **others}.items(), key=lambda pair: (-pair[1], pair[0])))


def graded(
    plan: RegistryPlan, servers: Sequence[Scored], tools: Sequence[ToolHit], cosines: Mapping[int, float] | None
) -> list[GradedTool]:
    """Grade tools by the formulas of servers and agents; best first.

    Those that do not match are only there when the plan shows all.

    Parameters
    ----------
    cosines : mapping or None
        By tool, best first; those without a vector are missing and count with 0. None grades by keywords alone.
    """
    of = {server.id: server for server in servers}
    graders = _Graders(plan, of, tools, cosines)
    found: dict[int, GradedTool] = {}
    for tool in tools:
        is_match = tool.keyword_count > 0 or graders.cosine(tool) >= DEFAULT_TOOL_THRESHOLD
        if (is_match or plan.show_all) and tool.entity_id in of:
            score = graders.score(tool)
            path = of[tool.entity_id].path
            scored = Scored(tool.id, "tool", path, tool.name, score, plan.names_tool(tool.name, path, score))
            found[tool.id] = GradedTool(scored, tool.entity_id, is_match)
    return [found[ranked.id] for ranked in scoring.by_rank(tool.scored for tool in found.values())]


class _Graders:
    """The scorers of tools, one tool after the other."""

    def __init__(
        self,
        plan: RegistryPlan,
        servers: Mapping[int, Scored],
        tools: Sequence[ToolHit],
        cosines: Mapping[int, float] | None,
    ) -> None:
        self._cosines = cosines
        self._fusion = plan.fusion
        self._keywords = len(plan.query.keywords)
        self._by_ranks = plan.fusion == "rrf" and cosines is not None
        if self._by_ranks and cosines is not None:
            known = {tool.id for tool in tools}
            near = [tool_id for tool_id in cosines if tool_id in known][: plan.nearest]
            matching = [tool for tool in tools if tool.keyword_count and tool.entity_id in servers]
            matching.sort(key=lambda tool: (-tool.keyword_count, servers[tool.entity_id].path, tool.name, tool.id))
            self._vector_ranks = {tool_id: rank for rank, tool_id in enumerate(near, 1)}
            self._keyword_ranks = {tool.id: rank for rank, tool in enumerate(matching[: plan.nearest], 1)}

    def cosine(self, tool: ToolHit) -> float:
        return self._cosines.get(tool.id, 0.0) if self._cosines is not None else 0.0

    def score(self, tool: ToolHit) -> Score:
        boost = tool.keyword_count * BOOSTS[Place.TOOL]
        if self._cosines is None:
            return scoring.lexical(boost)
        if self._by_ranks:
            ranks = self._vector_ranks.get(tool.id), self._keyword_ranks.get(tool.id)
            return scoring.by_ranks(self.cosine(tool), boost, *ranks)
        if self._fusion == "coverage":
            # A tool is one place: what it has of the keywords is all that there is to weigh.
            return scoring.covered(self.cosine(tool), boost, tool.keyword_count / max(1, self._keywords))
        return scoring.boosted(self.cosine(tool), boost)
