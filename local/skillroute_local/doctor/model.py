"""The input and the findings of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The kind of a finding. Codes do not change within v1; there may be more of them."""

    TOOL_NOT_FINDABLE = "tool_not_findable"
    DESCRIPTION_EMPTY = "description_empty"
    DESCRIPTION_BOILERPLATE = "description_boilerplate"
    WORDS_UNEXPLAINED = "words_unexplained"
    DESCRIPTIONS_ALIKE = "descriptions_alike"
    NEAR_DUPLICATES = "near_duplicates"
    NAMES_LOOK_ALIKE = "names_look_alike"
    HIDDEN_CHARACTERS = "hidden_characters"
    READS_AS_INSTRUCTION = "reads_as_instruction"
    SHADOWS_TOOLS = "shadows_tools"
    NAME_SAYS_NOTHING = "name_says_nothing"
    TOOLS_WITHOUT_SKILL = "tools_without_skill"
    SKILL_WITHOUT_TOOLS = "skill_without_tools"
    SKILLS_OVERLAP = "skills_overlap"
    DESCRIPTION_TOO_LONG = "description_too_long"
    DESCRIPTION_REPEATS_NAME = "description_repeats_name"
    ARGUMENTS_UNDESCRIBED = "arguments_undescribed"
    AGENT_SKILLS_SHADOW = "agent_skills_shadow"
    AGENT_SKILL_WITHOUT_WHEN = "agent_skill_without_when"
    AGENT_SKILL_TOOLS_MISSING = "agent_skill_tools_missing"


@dataclass(frozen=True, slots=True)
class Tool:
    """An active item of the catalogue, of any type; a `server` of "" means none.

    Attributes
    ----------
    skill_ids : tuple of str
        The skills that it is in.
    more : mapping
        What else of it models read: `title`, `output_schema` and `annotations`, as far as it has them.
    """

    id: int
    server: str
    name: str
    type: str = "tool"
    description: str = ""
    input_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    skill_ids: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def definition(self) -> dict[str, Any]:
        """All that models read of it, by the fields of an item."""
        return {"description": self.description, "input_schema": self.input_schema, **self.more}

    @property
    def title(self) -> str:
        """The display name: ``server/name``, or the name alone where it has no server."""
        return f"{self.server}/{self.name}" if self.server else self.name

    @property
    def order(self) -> tuple[str, str, str, int]:
        """The sort key of tools in lists."""
        return self.server, self.name, self.type, self.id


@dataclass(frozen=True, slots=True)
class Skill:
    """An active skill."""

    id: str
    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """An active Agent Skill.

    Attributes
    ----------
    allowed_tools : str
        As its front matter has them.
    body : str or None
        What `SKILL.md` says below the front matter; None where it was not read.
    """

    path: str
    name: str
    description: str = ""
    allowed_tools: str = ""
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a search whose request was a tool's own description.

    Attributes
    ----------
    rank : int or None
        The tool's place, from 1, near-duplicates of one tool sharing one; None where it is not among those looked at.
    direct_rank : int or None
        Its place where skills narrow nothing. Asked only of tools that are not among the first five.
    first : tuple of str
        Titles of the results before it, the first ones.
    """

    rank: int | None
    direct_rank: int | None = None
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that the rules know. Its order does not matter.

    Attributes
    ----------
    asked : mapping of int to Asked
        By the ids of tools; of those that are not in it nothing is known.
    """

    tools: Sequence[Tool]
    skills: Sequence[Skill] = ()
    asked: Mapping[int, Asked] = field(default_factory=dict)
    agent_skills: Sequence[AgentSkill] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    weight : int
        How much it hurts, 1 to 100.
    reason : str
        A sentence without a full stop: what is wrong with these tools or skills.
    help : str
        What would help, likewise.
    tools : tuple of Tool
        Those concerned, by server and name; before them the one that says something about the others.
    skills : tuple of str
        Ids of those concerned, sorted.
    agent_skills : tuple of str
        Paths of those concerned, sorted.
    """

    code: Code
    weight: int
    reason: str
    help: str
    tools: tuple[Tool, ...] = ()
    skills: tuple[str, ...] = ()
    agent_skills: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key of findings: largest weight first."""
        places = list(Code)
        return (
            -self.weight,
            places.index(self.code),
            [tool.order for tool in self.tools],
            self.skills,
            self.agent_skills,
        )


def in_order(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Return tools by server and name."""
    return tuple(sorted(tools, key=lambda tool: tool.order))


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c"], most=1)
    ('a, b', 'a and 2 more')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
