"""The candidates of the stages, with their payloads in the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.ahead import ask_ahead
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.search.answer.explanation import SearchExplanation, ToolExplanation, UsedWith
from skillroute.search.candidates.registered_servers import RegisteredServer, RegisteredServers, servers_of
from skillroute.search.candidates.retrieve import Candidate, Ranking
from skillroute.search.candidates.visible_skills import looked_up, tool_count, tools_of, unseen
from skillroute.search.model import Fit, SkillMatch
from skillroute.search.plan import skills_where
from skillroute.search.run import ToolSearchRun
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillKey, id_in_key


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate that is returned, with what the index knows of it, and those of its skills that are not shown.

    `duplicates` are its near-duplicates, the best first; `server` is None where the registry does not have it.
    """

    candidate: Candidate
    payload: Mapping[str, Any]
    unseen: frozenset[str] = frozenset()
    duplicates: Sequence[Hit] = ()
    server: RegisteredServer | None = None


@dataclass(frozen=True, slots=True)
class MatchedSkill:
    """A skill that the query matched: what its tools are found by, and what is said of it."""

    key: SkillKey
    match: SkillMatch


@dataclass(frozen=True, slots=True)
class FoundNeed:
    """How the search of one need went; None where that is not known."""

    text: str
    confidence: float | None = None
    confidence_first_five: float | None = None
    no_match: bool = False
    fit: Fit | None = None
    explanation: SearchExplanation | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The results of stages 1 and 2: the matched skills, the number of candidates, and those that are returned.

    With the explanation of each result and of all where they were asked for, and the servers of the request that have
    nothing. Where needs were stated: how each went, and for each result the places of those that it serves, and of the
    one that it suits best.
    """

    skills: Sequence[MatchedSkill] = ()
    candidate_count: int = 0
    hits: Sequence[Hit] = ()
    explained: Sequence[ToolExplanation] = ()
    explanation: SearchExplanation | None = None
    unknown_servers: Sequence[str] = ()
    candidates: Sequence[Candidate] = ()
    needs: Sequence[FoundNeed] = ()
    serves: Sequence[Sequence[int]] = ()
    explained_need: Sequence[int | None] = ()
    used_with: Sequence[Sequence[UsedWith]] = ()


def with_payloads(index: SearchedIndex, collection: Collection, candidates: Sequence[Candidate]) -> list[Hit]:
    """Look up what the index knows of candidates; those deleted a moment ago are left out."""
    payloads = index.payloads(collection, [candidate.key for candidate in candidates])
    return [Hit(candidate, payloads[candidate.key]) for candidate in candidates if candidate.key in payloads]


def tool_hits(index: SearchedIndex, candidates: Sequence[Candidate], caller: Caller) -> list[Hit]:
    """Look up what the index knows of candidates that are tools, of their skills and of their servers."""
    return with_skills_and_servers(index, with_payloads(index, TOOL_DOCUMENTS, candidates), caller)


def with_skills_and_servers(index: SearchedIndex, hits: list[Hit], caller: Caller) -> list[Hit]:
    """Look up which skills of tools the caller sees, and what the registry says of their servers."""
    payloads = [hit.payload for hit in hits]
    skills = {key for payload in payloads for key in payload["skill_keys"]}
    ask_ahead(index, [*looked_up(skills, caller), *servers_of(payloads, caller)])
    hidden = unseen(index, skills, caller)
    servers = RegisteredServers(index, payloads, caller)
    return [replace(hit, unseen=hidden, server=servers.of(hit.payload)) for hit in hits]


def matched_skill(hit: Hit, tool_count: int) -> MatchedSkill:
    """Return a matched skill with what the API says of it (search-contract BR-002)."""
    key = SkillKey(hit.candidate.key)
    match = SkillMatch(
        id=id_in_key(key),
        name=hit.payload["name"],
        description=hit.payload["description"],
        score=hit.candidate.score,
        tool_count=tool_count,
    )
    return MatchedSkill(key, match)


def matching_skills(
    run: ToolSearchRun, index: SearchedIndex, ranking: Ranking, limit: int, threshold: float, *, empty: bool = False
) -> list[MatchedSkill]:
    """Return the skills that match, with how many of their tools the caller sees; stage 1."""
    with run.watch.stage("skill_search"):
        candidates = ranking.skills(skills_where(run.caller), limit=limit, threshold=threshold, empty=empty)
        hits = with_payloads(index, SKILL_DOCUMENTS, candidates)
        ask_ahead(index, (tools_of(SkillKey(hit.candidate.key), run.caller) for hit in hits))
        return [matched_skill(hit, tool_count(index, SkillKey(hit.candidate.key), run.caller)) for hit in hits]
