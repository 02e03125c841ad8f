"""All rules over one catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from skillroute_local.doctor import (
    agent_skills,
    arguments,
    descriptions,
    duplicates,
    findable,
    injection,
    jargon,
    look_alikes,
    names,
    skills,
)
from skillroute_local.doctor.model import Catalogue, Code, Finding

Rule = Callable[[Catalogue], Iterable[Finding]]

RULES: Mapping[Code, Rule] = {
    Code.TOOL_NOT_FINDABLE: findable.not_findable,
    Code.DESCRIPTION_EMPTY: descriptions.empty,
    Code.DESCRIPTION_BOILERPLATE: descriptions.boilerplate,
    Code.WORDS_UNEXPLAINED: jargon.unexplained,
    Code.DESCRIPTIONS_ALIKE: duplicates.alike,
    Code.NEAR_DUPLICATES: duplicates.near_duplicates,
    Code.NAMES_LOOK_ALIKE: look_alikes.look_alikes,
    Code.HIDDEN_CHARACTERS: look_alikes.hidden,
    Code.READS_AS_INSTRUCTION: injection.reads_as_instruction,
    Code.SHADOWS_TOOLS: injection.shadows_tools,
    Code.NAME_SAYS_NOTHING: names.says_nothing,
    Code.TOOLS_WITHOUT_SKILL: skills.tools_without,
    Code.SKILL_WITHOUT_TOOLS: skills.skills_without,
    Code.SKILLS_OVERLAP: skills.overlapping,
    Code.DESCRIPTION_TOO_LONG: descriptions.too_long,
    Code.DESCRIPTION_REPEATS_NAME: descriptions.repeats_name,
    Code.ARGUMENTS_UNDESCRIBED: arguments.undescribed,
    Code.AGENT_SKILLS_SHADOW: agent_skills.shadowing,
    Code.AGENT_SKILL_WITHOUT_WHEN: agent_skills.without_when,
    Code.AGENT_SKILL_TOOLS_MISSING: agent_skills.missing_tools,
}


def diagnose(catalogue: Catalogue) -> list[Finding]:
    """Return what is wrong, what hurts most first. The order of the catalogue's parts does not matter."""
    return sorted((found for rule in RULES.values() for found in rule(catalogue)), key=lambda found: found.order)
