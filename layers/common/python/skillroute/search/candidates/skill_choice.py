"""Which skills a search matches, where more would than may (decisions 34 and 43)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillroute.search.candidates.retrieve import Candidate
from skillroute.skills.model import SkillKey


def one_a_tool(
    skills: Sequence[Candidate], tools: Sequence[Candidate], skills_of: Mapping[str, Sequence[SkillKey]], limit: int
) -> list[Candidate]:
    """Return the skills to search the tools of: one for each of the best tools first, so that none of them is lost.

    A tool may have five skills; by their order alone the best tool's would leave the others' no place.

    Parameters
    ----------
    skills : sequence of Candidate
        Those that match, best first.
    tools : sequence of Candidate
        The best of all tools.
    skills_of : mapping of a tool's key to the keys of its skills
        Of those tools that were looked up.
    """
    if len(skills) <= limit:
        return list(skills)
    places = {skill.key: place for place, skill in enumerate(skills)}
    of_tools = [
        (-tool.score, min(known), known)
        for tool in tools
        if tool.key in skills_of and (known := {places[key] for key in skills_of[tool.key] if key in places})
    ]
    chosen: set[int] = set()
    for _, first, known in sorted(of_tools, key=lambda of_tool: of_tool[:2]):
        if len(chosen) < limit and chosen.isdisjoint(known):
            chosen.add(first)
    chosen.update([place for place in range(len(skills)) if place not in chosen][: limit - len(chosen)])
    return [skills[place] for place in sorted(chosen)]


def among_others(
    without_tools: Sequence[Candidate], others: Sequence[Candidate], cosines: Mapping[str, float]
) -> list[Candidate]:
    """Return skills without tools, each with the score of the best of the others that is no nearer to the query.

    Parameters
    ----------
    cosines : mapping of a skill's key to its cosine
        Of the others, whose scores are those of their tools.
    """
    return [
        skill._replace(
            score=max((one.score for one in others if cosines.get(one.key, 0.0) <= skill.score), default=0.0)
        )
        for skill in without_tools
    ]
