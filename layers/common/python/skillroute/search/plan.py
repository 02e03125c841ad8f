"""The plan of a search: which stages run, and the filters of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD, ItemType
from skillroute.core.caller import Caller
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.rights.conditions import seen_items, seen_skills
from skillroute.search.candidates.clauses import clauses
from skillroute.search.candidates.server_names import spellings
from skillroute.search.model import (
    DEFAULT_SKILL_LIMIT,
    DEFAULT_SKILL_THRESHOLD,
    MAX_SKILLS,
    Mode,
    SearchRequest,
)
from skillroute.skills.model import SkillKey

CANDIDATE_POOL = 100
"""The least number of candidates that the tool search looks at (decision 5)."""

RankBy = Mode


def ranking_for(mode: Mode | None, default: RankBy) -> RankBy:
    """Return how to rank (decision 8)."""
    return default if mode is None else mode


def is_fused(ranking: RankBy) -> bool:
    """Return whether scores are learned fusion's, or a reranker's on top of it."""
    return ranking in ("hybrid", "hybrid_rerank")


def texts_to_embed(ranking: RankBy, text: str) -> list[str]:
    """Return what is embedded of a text: in the hybrid modes its clauses as well, nothing where words alone rank."""
    if ranking == "lexical":
        return []
    return [text, *clauses(text)] if is_fused(ranking) else [text]


def least_cosine(ranking: RankBy, given: float | None, *, default: float) -> float:
    """Return the threshold of skills or of tools: in the hybrid modes only what the caller gives (decision 33)."""
    if given is not None:
        return given
    return 0.0 if is_fused(ranking) else default


def skill_limit(ranking: RankBy, request: SearchRequest) -> int:
    """Return how many skills may match: in the hybrid modes one for each tool that is wanted, unless the caller says.

    The best tools may be of as many skills as there are tools (docs/adr/0038).
    """
    if request.skill_limit is not None:
        return request.skill_limit
    return min(MAX_SKILLS, max(DEFAULT_SKILL_LIMIT, request.limit)) if is_fused(ranking) else DEFAULT_SKILL_LIMIT


def skills_where(caller: Caller) -> IndexFilter:
    """Return the condition of a skill search: of two skills of one id, an organisation sees its own (decision 29)."""
    seen = visible_to(caller).any_of
    where = IndexFilter(seen, none_of={} if caller.org_id is None else {"hidden_from": [caller.org_id]})
    return seen_skills(caller.rights, where)


def passes(where: IndexFilter, skill: Mapping[str, Any]) -> bool:
    """Tell from a skill's payload whether it passes `skills_where`, for one that was not searched but looked up."""
    hidden = where.none_of.get("hidden_from", ())
    if skill["org_id"] not in where.any_of["org_id"] or any(org in skill["hidden_from"] for org in hidden):
        return False
    allowed, denied = where.any_of.get("skill_id"), where.none_of.get("skill_id", ())
    return (allowed is None or skill["skill_id"] in allowed) and not (denied and skill["skill_id"] in denied)


def tools_where(
    caller: Caller,
    item_type: ItemType | None = None,
    skill_keys: Sequence[SkillKey] | None = None,
    servers: Sequence[str] | None = None,
) -> IndexFilter:
    """Return the conditions of a tool search (search-contract BR-003, BR-005).

    That an item is active needs no condition: only active items are in the index.
    """
    conditions = dict(visible_to(caller).any_of)
    if item_type is not None:
        conditions["type"] = [item_type]
    if skill_keys is not None:
        conditions["skill_keys"] = skill_keys
    if servers is not None:
        conditions["server"] = spellings(servers)
    return seen_items(caller.rights, IndexFilter(conditions))


def wanted_tools(caller: Caller, request: SearchRequest, skill_keys: Sequence[SkillKey] | None = None) -> IndexFilter:
    """Return the conditions of what a request searches, of all skills or of some."""
    return tools_where(caller, request.searched_type, skill_keys, request.server)


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Which of the two searches run.

    Attributes
    ----------
    ranking : RankBy
    skill_limit : int
        How many skills may match.
    skill_threshold, tool_threshold : float
        The least cosine of a skill, and of a tool; 0 is none.
    match_skills : bool
        Stage 1 runs (all strategies but direct).
    search_all : bool
        Tools are searched without a skill filter even when skills match (direct and hybrid).
    """

    ranking: RankBy
    skill_limit: int
    skill_threshold: float
    tool_threshold: float
    match_skills: bool
    search_all: bool


def plan(request: SearchRequest, default: RankBy) -> SearchPlan:
    """Make the plan of a request."""
    ranking = ranking_for(request.mode, default)
    return SearchPlan(
        ranking=ranking,
        skill_limit=skill_limit(ranking, request),
        skill_threshold=least_cosine(ranking, request.skill_threshold, default=DEFAULT_SKILL_THRESHOLD),
        tool_threshold=least_cosine(ranking, request.tool_threshold, default=DEFAULT_TOOL_THRESHOLD),
        match_skills=request.strategy != "direct",
        search_all=request.strategy != "hierarchical",
    )
