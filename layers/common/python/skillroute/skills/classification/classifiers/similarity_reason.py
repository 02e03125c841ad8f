"""One sentence that says what speaks most for a skill."""

from __future__ import annotations

from skillroute.skills.classification.classifiers.similarity_skills import FEATURES, Measured, SkillTable
from skillroute.skills.classification.model import SkillProfile, ToolProfile
from skillroute.skills.text import name_stems, term_stems

_AT = {name: place for place, name in enumerate(FEATURES)}


def reason(tool: ToolProfile, table: SkillTable, measured: Measured, row: int) -> str:
    """Name what the tool is nearest to, with the cosine: a keyword, the examples, the tools or the description.

    Of what is equally near the first of these, for people see at once whether a keyword fits.

    Examples
    --------
    ``Close to its keyword "pull request" (0.61).``, ``Close to its examples, such as merge_pdfs (0.58).``
    """
    skill, features = table.skills[row], measured.features[row]
    near: dict[str, float] = {}
    if skill.keywords:
        cosine, keyword = max((float(measured.keyword_cosines[n]), table.keywords[n]) for n in table.keywords_of(row))
        near[f'keyword "{keyword}"'] = cosine
    if skill.examples:
        near[f"examples, such as {_likest_example(tool, skill)}"] = float(features[_AT["examples"]])
    if features[_AT["has_tools"]]:
        near["tools, those that people assigned to it"] = float(features[_AT["tools"]])
    near["description"] = float(features[_AT["description"]])
    nearest = max(near, key=lambda what: near[what])
    return f"Close to its {nearest} ({near[nearest]:.2f})."


def _likest_example(tool: ToolProfile, skill: SkillProfile) -> str:
    """Return the example with most words of the tool's name; of equal ones the first."""
    named = name_stems(tool)
    return max(skill.examples, key=lambda example: len(term_stems(example) & named))
