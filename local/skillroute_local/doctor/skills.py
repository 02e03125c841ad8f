"""Tools without a skill, skills without tools, skills that overlap."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from skillroute_local.doctor.model import Catalogue, Code, Finding, Skill, Tool, in_order
from skillroute_local.doctor.similar_sets import similar_pairs
from skillroute_local.doctor.words import words_of

SHARED = 0.6
"""The share of the smaller skill's tools that the other has as well."""

_MIN_SHARED = 3
_WORDED_ALIKE = 0.75
_MIN_WORDS = 5


def tools_without(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools in none of the skills, a finding for each server; one for all of them where there are no skills."""
    known = {skill.id for skill in catalogue.skills}
    without = [tool for tool in catalogue.tools if not known.intersection(tool.skill_ids)]
    if not without:
        return
    if not known:
        yield Finding(
            Code.TOOLS_WITHOUT_SKILL,
            40,
            "there are no skills: every search goes over all tools",
            "make a first set: `skillroute skills propose`",
            in_order(without),
        )
        return
    all_of, of = Counter(tool.server for tool in catalogue.tools), defaultdict(list)
    for tool in without:
        of[tool.server].append(tool)
    for server, tools in of.items():
        yield Finding(
            Code.TOOLS_WITHOUT_SKILL,
            20 + min(30, round(6 * math.log2(1 + len(tools)))),
            f"{_share(len(tools), all_of[server], f'of {server}' if server else 'without a server')}: "
            f"a search that is narrowed to skills does not reach {'it' if len(tools) == 1 else 'them'}",
            "put them into the skills that they belong to, or make one: `skillroute skills propose`",
            in_order(tools),
        )


def _share(number: int, of_all: int, where: str) -> str:
    """Return how many of a server's items are in no skill.

    Examples
    --------
    >>> _share(1, 1, "of maps"), _share(7, 8, "of maps")
    ('the only item of maps is in no skill', '7 of the 8 items of maps are in no skill')
    """
    if number == of_all == 1:
        return f"the only item {where} is in no skill"
    if number == of_all:
        return f"none of the {number} items {where} is in a skill"
    return f"{number} of the {of_all} items {where} {'is' if number == 1 else 'are'} in no skill"


def skills_without(catalogue: Catalogue) -> Iterator[Finding]:
    """Find skills that no tool is in."""
    used = {skill_id for tool in catalogue.tools for skill_id in tool.skill_ids}
    for skill in catalogue.skills:
        if skill.id not in used:
            yield Finding(
                Code.SKILL_WITHOUT_TOOLS,
                35,
                f"no tool is in the skill {skill.name!r}: a request that matches it finds nothing there",
                "say in its description what its tools do and classify them again; or delete it",
                skills=(skill.id,),
            )


def overlapping(catalogue: Catalogue) -> Iterator[Finding]:
    """Find pairs of skills that share most of the smaller one's tools, or whose texts say the same."""
    members: dict[str, list[Tool]] = defaultdict(list)
    for tool in catalogue.tools:
        for skill_id in tool.skill_ids:
            members[skill_id].append(tool)
    skills = sorted(catalogue.skills, key=lambda skill: skill.id)
    shared = _shared(catalogue.tools, {skill.id for skill in skills})
    worded = _worded_alike(skills)
    for pair in sorted(shared.keys() | worded):
        fewer, number = min(len(members[id_]) for id_ in pair), shared.get(pair, 0)
        is_shared = number >= _MIN_SHARED and number >= SHARED * fewer
        if not is_shared and pair not in worded:
            continue
        one, other = pair
        reasons = [f"{number} of the {fewer} tools of the smaller are in both"] if is_shared else []
        reasons += ["their texts say the same"] if pair in worded else []
        yield Finding(
            Code.SKILLS_OVERLAP,
            min(60, 30 + (round(30 * number / fewer) if fewer else 0) + (15 if pair in worded else 0)),
            f"{one} and {other} overlap: {' and '.join(reasons)}",
            "merge them, or say in each description what belongs to that one alone and classify again",
            in_order(tool for tool in members[one] if other in tool.skill_ids) if is_shared else (),
            pair,
        )


def _shared(tools: Sequence[Tool], known: set[str]) -> Counter[tuple[str, str]]:
    """Return how many tools two skills share; of the pairs that share none there is no entry."""
    counts: Counter[tuple[str, str]] = Counter()
    for tool in tools:
        for one, other in combinations(sorted(known.intersection(tool.skill_ids)), 2):
            counts[one, other] += 1
    return counts


def _worded_alike(skills: Sequence[Skill]) -> set[tuple[str, str]]:
    """Return the pairs of skills of one name, or whose descriptions and keywords have mostly the same words."""
    found: set[tuple[str, str]] = set()
    for texts, fewest, least in (
        ([words_of(skill.name) for skill in skills], 1, 1.0),
        ([words_of(" ".join([skill.description, *skill.keywords])) for skill in skills], _MIN_WORDS, _WORDED_ALIKE),
    ):
        of: dict[frozenset[int], list[str]] = defaultdict(list)
        for skill, words in zip(skills, texts, strict=True):
            if len(words) >= fewest:
                of[words].append(skill.id)
        for ids in of.values():
            found.update(combinations(sorted(ids), 2))
        distinct = sorted(of, key=sorted)
        for one, other in similar_pairs(distinct, least):
            found.update(tuple(sorted((a, b))) for a in of[distinct[one]] for b in of[distinct[other]])  # type: ignore[misc]
    return found
