"""One sentence that says what speaks most for a skill."""

from __future__ import annotations

from skillroute.domain.classification import SkillProfile, ToolProfile
from skillroute.domain.skill_text import name_stems, term_stems
from skillroute.providers.classification.similarity_model import EVIDENCE
from skillroute.providers.classification.similarity_skills import FEATURES, Measured, SkillTable

_AT = {name: place for place, name in enumerate(FEATURES)}
_KINDS = {"keywords": "has_keywords", "examples": "has_examples", "tools": "has_tools"}
_LEAST = 0.3
"""Evidence, in log odds, from which on a keyword, the examples or the tools are named rather than the description."""


def reason(tool: ToolProfile, table: SkillTable, measured: Measured, row: int) -> str:
    """Name what adds most to the evidence for the skill in a row of a table: keyword, examples, tools or description.

    Examples
    --------
    ``Close to its keyword "pull request" (0.61).``, ``Close to its examples, such as merge_pdfs (0.58).``
    """
    features = measured.features[row]
    adds = {
        kind: float(EVIDENCE[_AT[kind]] * features[_AT[kind]] + EVIDENCE[_AT[has]])
        for kind, has in _KINDS.items()
        if features[_AT[has]]
    }
    kind = max(adds, key=lambda name: adds[name], default="description")
    if adds.get(kind, 0.0) < _LEAST:
        kind = "description"
    cosine = float(features[_AT[kind]])
    if kind == "keywords":
        nearest = max(table.keywords_of(row), key=lambda number: float(measured.keyword_cosines[number]))
        return f'Close to its keyword "{table.keywords[nearest]}" ({measured.keyword_cosines[nearest]:.2f}).'
    if kind == "examples":
        return f"Close to its examples, such as {_likest_example(tool, table.skills[row])} ({cosine:.2f})."
    if kind == "tools":
        return f"Close to the tools that people assigned to it ({cosine:.2f})."
    return f"Close to what its description says ({cosine:.2f})."


def _likest_example(tool: ToolProfile, skill: SkillProfile) -> str:
    """The example with most words of the tool's name; of equal ones the first."""
    named = name_stems(tool)
    return max(skill.examples, key=lambda example: len(term_stems(example) & named))
