"""Which skills a language model may choose from: all of them, or as many of the nearest as its prompt has room for."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import mul

from skillroute.catalogue.text import split_name
from skillroute.skills.classification.classifiers.prompt import CLASSIFY, Form, estimated_tokens, question, skill_entry
from skillroute.skills.classification.model import SkillProfile, ToolProfile

_WORD = re.compile(r"[^\W_]+")
_NO_VECTOR = -2.0  # less than any cosine


def offer(
    tool: ToolProfile, skills: Sequence[SkillProfile], *, max_tokens: int, form: Form = CLASSIFY
) -> dict[str, str]:
    """Choose the skills to offer, so that the prompt is of at most `max_tokens` tokens, as far as one can estimate.

    Returns
    -------
    dict of str to str
        The entry of each skill that is offered by its id, in the order of the prompt: all by id if they all fit, else
        the nearest to the tool first, and those left out that do not fit any more. The nearest is always offered.
    """
    entries = {skill.id: skill_entry(skill) for skill in skills}
    cost = {skill_id: estimated_tokens(entry) + 1 for skill_id, entry in entries.items()}
    left = max_tokens - sum(map(estimated_tokens, (form.instructions, json.dumps(form.schema), question(tool, ()))))
    if sum(cost.values()) <= left:
        return {skill_id: entries[skill_id] for skill_id in sorted(entries)}
    offered: dict[str, str] = {}
    for skill in nearest_first(tool, skills):
        if cost[skill.id] <= left or not offered:
            offered[skill.id] = entries[skill.id]
            left -= cost[skill.id]
    return offered


def nearest_first(tool: ToolProfile, skills: Sequence[SkillProfile]) -> list[SkillProfile]:
    """Sort skills by how near they are to a tool.

    That is the cosine of the tool's vector to the skill's description or to the mean of its tools, whichever is higher.
    Skills without a vector come last, by the words that they share with the tool; so do all when the tool has none.
    """
    shared = _shared_words(tool, skills)

    def distance(skill: SkillProfile) -> tuple[float, float, str]:
        return -_cosine(tool, skill), -shared[skill.id], skill.id

    return sorted(skills, key=distance)


def _cosine(tool: ToolProfile, skill: SkillProfile) -> float:
    if tool.embedding is None:
        return _NO_VECTOR
    vectors = [vector for vector in (skill.description_embedding, skill.centroid) if vector is not None]
    return max((sum(map(mul, tool.embedding, vector)) for vector in vectors), default=_NO_VECTOR)


def _shared_words(tool: ToolProfile, skills: Sequence[SkillProfile]) -> Mapping[str, float]:
    """Weigh the words that each skill shares with the tool. A word counts less the more skills have it."""
    own = _words([split_name(tool.name), tool.description])
    of_skill = {
        skill.id: own
        & _words(
            [split_name(skill.id), skill.name, skill.description, *skill.keywords, *map(split_name, skill.examples)]
        )
        for skill in skills
    }
    spread = Counter(word for words in of_skill.values() for word in words)
    return {skill_id: sum(1 / spread[word] for word in words) for skill_id, words in of_skill.items()}


def _words(texts: Sequence[str]) -> set[str]:
    return set(_WORD.findall(" ".join(texts).lower()))
