"""The request for a proposal of skills, and the proposal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillroute.skills.model import NewSkill

Report = Callable[[str, int, int], object]
"""Called with what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wanted number, sizes and tools of a proposal.

    Attributes
    ----------
    org_id : str or None
        Whose tools; None for the global ones.
    all_tools : bool
        Also those that have skills.
    min_tools : int
        A group of fewer is no skill.
    skills : int or None
        How many skills at most; None to choose.
    """

    org_id: str | None = None
    all_tools: bool = False
    min_tools: int = 3
    skills: int | None = None


@dataclass(frozen=True, slots=True)
class ProposedSkill:
    """A skill that could be created.

    Attributes
    ----------
    tool_count, server_count : int
        How many tools are nearest to it, and of how many servers.
    cohesion : float
        The mean cosine of these tools with their centre: the lower, the less they have in common.
    exists : bool
        Whether there is a skill of this id.
    """

    skill: NewSkill
    tool_count: int
    server_count: int
    cohesion: float
    worded_by: str
    exists: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """The skills that were found.

    Attributes
    ----------
    skills : tuple of ProposedSkill
        The largest first.
    tool_count : int
        How many tools were looked at.
    fits_none : tuple of str
        The names of those that are too far from every skill.
    without_embedding : int
        How many could not be looked at, as they wait for their vector.
    silhouette : float
        How well the groups are separated: -1 to 1, and 0 when they are not.
    without_skill : tuple of int
        The tools that belong to no skill.
    problems : tuple of str
        What the language model did not do.
    with_skill : tuple of int
        The tools that belong to a skill.
    loose_groups, loose_tools : int
        Groups that are not proposed, as no word says what most of their tools are for, and how many tools they have.
    by_words : bool
        Whether there was no language model to word groups.
    """

    skills: tuple[ProposedSkill, ...]
    tool_count: int
    fits_none: tuple[str, ...]
    without_embedding: int
    silhouette: float
    without_skill: tuple[int, ...]
    problems: tuple[str, ...]
    with_skill: tuple[int, ...] = ()
    loose_groups: int = 0
    loose_tools: int = 0
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying a proposal: ids of skills, why some were not created, and which tools were queued."""

    created: tuple[str, ...]
    skipped: tuple[str, ...]
    queued_ids: tuple[int, ...]

    @property
    def queued(self) -> int:
        """How many tools wait to be classified."""
        return len(self.queued_ids)
