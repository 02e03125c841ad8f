"""Agent Skills: those that stand in for each other, those that never say when, and tools that are not there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from skillroute_local.doctor.model import AgentSkill, Catalogue, Code, Finding, listed
from skillroute_local.doctor.similar_sets import groups, similar_pairs
from skillroute_local.doctor.words import words_of

ALIKE = 0.8
"""The share of words that descriptions have in common, and may be taken for each other."""

_MIN_WORDS = 4

_WHEN = re.compile(
    r"\b(?:when|whenever|if (?:the|a|an) |use (?:this|it|for|to|with)|used (?:for|to|when)|asks? (?:for|to|about)"
    r"|trigger|mentions?|before |after "
    r"|cuando|siempre que|quando|quand|lorsque|wenn|sobald|когда)|当|時|时|场景|適用|适用|とき|場合|때",
    re.IGNORECASE,
)
"""The words that say when a skill is of use, in the languages that skills are mostly written in."""

_OF_SERVER = re.compile(r"\bmcp__([A-Za-z0-9_.-]+?)__([A-Za-z0-9_.-]*[A-Za-z0-9_-])")
_IN_BACKTICKS = re.compile(r"`([A-Za-z][A-Za-z0-9_.-]*):([A-Za-z][A-Za-z0-9_-]*)`")
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_LIKE_A_TOOL = re.compile(r"`([A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)(?:\(\))?`")


def shadowing(catalogue: Catalogue) -> Iterator[Finding]:
    """Find Agent Skills of one name, and those whose descriptions say nearly the same."""
    skills = sorted(catalogue.agent_skills, key=lambda skill: skill.path)
    by_name: dict[str, list[AgentSkill]] = defaultdict(list)
    for skill in skills:
        by_name[skill.name].append(skill)
    for name, same in by_name.items():
        if len(same) > 1:
            yield Finding(
                Code.AGENT_SKILLS_SHADOW,
                60,
                f"{len(same)} Agent Skills are called {name}: agents that go by names take one of them for the other",
                "rename all but one, or switch off those that are not needed",
                agent_skills=tuple(skill.path for skill in same),
            )
    words = [words_of(skill.description) for skill in skills]
    some = [place for place, found in enumerate(words) if len(found) >= _MIN_WORDS]
    for group in groups(len(some), list(_pairs([words[place] for place in some]))):
        alike = [skills[some[place]] for place in group]
        if len({skill.name for skill in alike}) > 1:
            yield Finding(
                Code.AGENT_SKILLS_SHADOW,
                50,
                f"{len(alike)} Agent Skills have descriptions that say the same: agents cannot tell which one to take",
                "say in each description what only that skill is for",
                agent_skills=tuple(skill.path for skill in alike),
            )


def _pairs(words: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of sets that share most words; equal ones are chained."""
    of: dict[frozenset[int], list[int]] = defaultdict(list)
    for place, found in enumerate(words):
        of[found].append(place)
    for places in of.values():
        yield from pairwise(places)
    distinct = sorted(of, key=sorted)
    for one, other in similar_pairs(distinct, ALIKE):
        yield of[distinct[one]][0], of[distinct[other]][0]


def without_when(catalogue: Catalogue) -> Iterator[Finding]:
    """Find Agent Skills whose descriptions do not say when to use them; heavier where their bodies do not either."""
    for skill in catalogue.agent_skills:
        if _WHEN.search(skill.description):
            continue
        is_in_body = skill.body is None or _WHEN.search(skill.body) is not None
        yield Finding(
            Code.AGENT_SKILL_WITHOUT_WHEN,
            25 if is_in_body else 40,
            f"the description of {skill.path} does not say when to use it, and agents choose by it alone"
            if is_in_body
            else f"neither the description nor the body of {skill.path} says when to use it",
            "begin a sentence of the description with `Use when`: what people ask for, and which files or names occur",
            agent_skills=(skill.path,),
        )


def missing_tools(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools that Agent Skills name and that are not in the catalogue.

    These are `mcp__server__tool` in `allowed-tools` or a body, `` `server:tool` `` of a server that is known, and names
    in backticks that are a tool's but for capitals and separators.
    """
    names = {tool.name for tool in catalogue.tools}
    like: dict[str, set[str]] = defaultdict(set)
    servers: set[str] = set()
    of_server: set[tuple[str, str]] = set()
    for tool in catalogue.tools:
        like[_plain(tool.name)].add(tool.name)
        servers.add(_plain(tool.server))
        of_server.add((_plain(tool.server), _plain(tool.name)))
    for skill in catalogue.agent_skills:
        text = f"{skill.allowed_tools}\n{skill.body or ''}"
        named = [*_OF_SERVER.findall(text), *(
            found for found in _IN_BACKTICKS.findall(text) if _plain(found[0]) in servers - {""}
        )]  # fmt: skip
        missing = {f"{server}/{tool}" for server, tool in named if (_plain(server), _plain(tool)) not in of_server}
        missing |= {
            f"{found} (it is called {listed(sorted(like[_plain(found)]), 1)})"
            for found in _LIKE_A_TOOL.findall(text)
            if _plain(found) in like and found not in names
        }
        if missing:
            yield Finding(
                Code.AGENT_SKILL_TOOLS_MISSING,
                min(70, 45 + 5 * len(missing)),
                f"{skill.path} names tools that are not in the catalogue: {listed(sorted(missing))}",
                "import the servers that have them, or name in the skill the tools that there are",
                agent_skills=(skill.path,),
            )


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())
