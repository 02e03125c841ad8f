"""`search_skills`, and what `search_tools` answers where Agent Skills are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import Field

from skillroute.agent_skills.model import SKILL_MD
from skillroute.agent_skills.search.model import AgentSkillMatch, AgentSkillSearchRequest, AgentSkillSearchResponse
from skillroute.core.caller import Caller
from skillroute.core.input.json_schema import NUMBER, STRING, described, list_of, object_of
from skillroute.mcp.agent_skills import uri_of
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json, Limit, fit
from skillroute.mcp.shown import DETAILS, STEPS, Detail, brief
from skillroute.mcp.tool import Asked, Tool
from skillroute.search.model import Query

_DESCRIPTION = """\
Find Agent Skills, written instructions for a kind of task, by their text, best first. Call it before a task that \
others have done here before; then read the uri of the one that fits, as a resource of this server, and follow it. Not \
for tools: search_tools finds those."""

PIECE_FIELDS: Json = {
    "heading": described(STRING, "The headings above the piece that matched."),
    "snippet": described(STRING, "The beginning of the piece that matched."),
}
_SKILL = {"name": STRING, "uri": STRING, "score": described(NUMBER, "0..1, within one answer."), "description": STRING}
_OUTPUT = object_of(
    {
        "skills": list_of(object_of({**_SKILL, **PIECE_FIELDS}, *_SKILL, "snippet"), "Best first."),
        "degraded": list_of(STRING, "What failed on the way."),
        "hint": described(STRING, "What to do where nothing is found."),
    },
    "skills",
)

FindSkills = Callable[[AgentSkillSearchRequest, Caller], AgentSkillSearchResponse]


class SearchSkillsArguments(Arguments):
    """The arguments of `search_skills`."""

    query: Annotated[Query, Field(description="The task, in plain words.")]
    limit: int = Field(5, ge=1, le=50, description="How many at most.")


def search_skills(find: FindSkills) -> Tool:
    """Return the tool over a search for Agent Skills."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(SearchSkillsArguments, arguments)
        found = find(AgentSkillSearchRequest(query=given.query, limit=given.limit), asked.caller)
        skills = [{**_named(match), **_scored(match.score), **_described(match)} for match in found.agent_skills]
        return {"skills": skills, **_notes(skills, found.metadata.degraded)}

    return Tool(
        "search_skills",
        "Search Agent Skills",
        _DESCRIPTION,
        input_schema(SearchSkillsArguments),
        _OUTPUT,
        call,
        hint="find Agent Skills (SKILL.md): instructions and procedures for a task",
    )


def skills_in_place_of_tools(
    find: FindSkills, asked: str | Sequence[str], caller: Caller, *, limit: int, most: Detail, limits: Sequence[Limit]
) -> Json:
    """Return Agent Skills in the form of the answer of `search_tools`.

    Parameters
    ----------
    asked : str or sequence of str
        A query, or needs: then each result has the places of those that it serves.
    limit : int
        Of all results. Each need has an equal share, and its best come in before the second best of any.
    """
    texts = [asked] if isinstance(asked, str) else asked
    share = -(-limit // len(texts))
    answers = [find(AgentSkillSearchRequest(query=text, limit=share), caller) for text in texts]
    best: dict[str, AgentSkillMatch] = {}
    needs: dict[str, list[int]] = {}
    for of_a_rank in zip_longest(*(answer.agent_skills for answer in answers)):
        for place, match in enumerate(of_a_rank):
            if match is not None:
                known = best.setdefault(match.path, match)
                best[match.path] = max(known, match, key=lambda each: each.score)
                needs.setdefault(match.path, []).append(place)
    chosen = [best[path] for path in list(best)[:limit]]
    results = [_forms(match, [] if isinstance(asked, str) else sorted(needs[match.path]), most) for match in chosen]
    degraded = list(dict.fromkeys(name for answer in answers for name in answer.metadata.degraded))

    def envelope(tools: list[Json]) -> Json:
        omitted = len(results) - len(tools)
        notes = _notes(results, degraded)
        return {"tools": tools, **({"omitted": omitted} if omitted else {}), **notes}

    shown = fit(results, envelope, limits, STEPS)
    return shown if shown["tools"] or not results else {**shown, "hint": "No result has room: raise budget_tokens."}


def _forms(match: AgentSkillMatch, needs: list[int], most: Detail) -> list[Json]:
    """Return a skill in every detail up to `most`, the least first; in the place of a signature it has the piece."""
    name: Json = {**_named(match), "type": "skill", **({"needs": needs} if needs else {})}
    scored = {**name, **_scored(match.score)}
    sentence = {**scored, "description": brief(match.description)}
    forms = [name, sentence, {**sentence, **_piece(match)}, {**scored, **_described(match)}]
    return forms[: DETAILS.index(most) + 1] if most in DETAILS else forms


def _named(match: AgentSkillMatch) -> Json:
    return {"name": match.name, "uri": uri_of(f"{match.path}/{SKILL_MD}")}


def _scored(score: float) -> Json:
    return {"score": round(score, 2)}


def _described(match: AgentSkillMatch) -> Json:
    return {"description": match.description, **_piece(match)}


def _piece(match: AgentSkillMatch) -> Json:
    piece = match.matched
    return {**({"heading": piece.heading} if piece.heading else {}), "snippet": piece.snippet}


def _notes(found: Sequence[Any], degraded: Sequence[str]) -> Json:
    if found:
        return {"degraded": list(degraded)} if degraded else {}
    if degraded:
        return {"degraded": list(degraded), "hint": "The search did not fully work: try again in a minute."}
    return {"hint": "No Agent Skill is found: ask in other words, or do without."}
