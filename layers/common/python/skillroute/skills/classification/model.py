"""The input and answer of a classifier, and the rules that turn its answer into assignments.

The rules are the same for every classifier (skill-contract BR-002, BR-003; decisions 15 to 17): a classifier proposes,
`settle` decides.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from skillroute.core.embedding.model import Vector
from skillroute.core.hashing import canonical_json, text_hash
from skillroute.skills.model import Assignment, SkillKey, in_rank_order, skill_key

MIN_CONFIDENCE = 0.5
"""The least confidence that is assigned (skill-contract, Classification Confidence Thresholds)."""

WEAK_CONFIDENCE = 0.3
"""From here to `MIN_CONFIDENCE` a match is weak: skipped, but logged."""

NEAR_CONFIDENCE = 0.2
"""From here to `MIN_CONFIDENCE` the similarity classifier suggests the nearest skill, and below a new one.

Of tools that it does not assign, the nearest skill was the right one from here on for 60 of 60 of `examples/` and 85 of
127 of Seal-Tools (500 tools, whose 146 fields overlap). With the right one taken away, 7 of 179 and 93 of 457 had
another one so near.
"""

MAX_CLASSIFIED_SKILLS = 3
"""The most skills that a classifier gives a tool (skill-contract BR-002). People may give five."""

HUMAN = "human"
"""Stands where a classifier's name would: a person decided, and no classifier decides again (BR-006)."""


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """A tool (or prompt, or resource) as classifiers see it.

    Attributes
    ----------
    embedding : list of float or None
        Its stored vector, L2 norm 1. None while it waits for one.
    embedding_texts : tuple of str
        What its vector is made of (`tool_text.embedding_views`).
    wants_requests : bool
        Whether a language model is to write requests for it: it has none, or such of a model for an older text.
    """

    id: int
    org_id: str | None
    name: str
    description: str
    server: str
    input_schema: Mapping[str, Any] | None
    embedding_texts: tuple[str, ...]
    embedding: Vector | None
    wants_requests: bool = False

    @property
    def input_hash(self) -> str:
        """The hash of name, description and schema: unchanged tools are not classified again (decision 17)."""
        return text_hash(self.name, self.description, canonical_json(self.input_schema))


@dataclass(frozen=True, slots=True)
class SkillProfile:
    """An active skill as classifiers see it.

    Attributes
    ----------
    description_embedding : list of float or None
        The vector of ``name: description``, L2 norm 1. None while it waits for one.
    centroid : list of float or None
        The normalised mean of the tools that people assigned to it, weighted by confidence; None when there are none.
        What classifiers assigned does not count: they would learn from their own mistakes, and what a tool is
        classified as would depend on which tool came before it (docs/adr/0009).
    fingerprint : str
        Changes whenever any of the above does.
    """

    id: str
    org_id: str | None
    name: str
    description: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    description_embedding: Vector | None
    centroid: Vector | None
    fingerprint: str

    @property
    def key(self) -> SkillKey:
        """The key that distinguishes it from other organisations' skills of its id. Of one list, ids are enough."""
        return skill_key(self.id, self.org_id)


@dataclass(frozen=True, slots=True)
class ProposedAssignment:
    """A skill that a classifier proposes for a tool. Nothing about it has been checked yet."""

    skill_id: str
    confidence: float
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class SkillDraft:
    """A new skill that a classifier proposes because none of those that are there fits."""

    name: str
    description: str
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Classification:
    """A classifier's answer for one tool, as it came.

    `requests` are those that it wrote for the tool, whatever they are; None where it was not asked for any.
    """

    assignments: tuple[ProposedAssignment, ...]
    suggestion: SkillDraft | None = None
    requests: tuple[object, ...] | None = None


class Decision(StrEnum):
    """The decision on a tool that was to be classified."""

    CLASSIFIED = "classified"
    SUGGESTED = "suggested"  # no skill fits, and a new one is suggested
    UNCHANGED = "unchanged"  # it says what it said when the same classifier decided
    HUMAN = "human"  # a person decided; only force overrules that
    OVERTAKEN = "overtaken"  # it changed while it was being classified, and waits again
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one tool.

    `assignments` are its skills as they are now, the primary one first; `suggestion` what was suggested instead.
    """

    tool_id: int
    decision: Decision
    tool_name: str = ""
    assignments: tuple[Assignment, ...] = ()
    suggestion: SkillDraft | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The assignments and the suggestion that come of a classifier's answer.

    Attributes
    ----------
    assignments : tuple of Assignment
        At most `MAX_CLASSIFIED_SKILLS`, the primary one first.
    weak : tuple of ProposedAssignment
        Known skills from `WEAK_CONFIDENCE` up to the threshold: not assigned, but worth a log line.
    rejected : tuple of ProposedAssignment
        Skills that were not offered, and confidences that are none.
    """

    assignments: tuple[Assignment, ...]
    weak: tuple[ProposedAssignment, ...]
    rejected: tuple[ProposedAssignment, ...]


def settle(
    proposed: Sequence[ProposedAssignment], offered: Collection[str], *, min_confidence: float = MIN_CONFIDENCE
) -> Settled:
    """Turn a classifier's proposals into assignments (decision 15).

    Skills that were not offered are dropped, those that do not exist among them (EC-003), and so is a confidence
    outside 0..1: it says nothing. A skill named twice counts once, with its highest confidence. What is left is cut at
    the threshold, sorted and cut to three; the highest is the primary, whatever the classifier called primary.
    """
    best: dict[str, ProposedAssignment] = {}
    rejected: list[ProposedAssignment] = []
    for proposal in proposed:
        if proposal.skill_id not in offered or not _is_confidence(proposal.confidence):
            rejected.append(proposal)
        elif proposal.skill_id not in best or best[proposal.skill_id].confidence < proposal.confidence:
            best[proposal.skill_id] = proposal
    strong = [
        Assignment(proposal.skill_id, proposal.confidence, proposal.reasoning)
        for proposal in best.values()
        if proposal.confidence >= min_confidence
    ]
    return Settled(
        assignments=tuple(in_rank_order(strong)[:MAX_CLASSIFIED_SKILLS]),
        weak=tuple(proposal for proposal in best.values() if WEAK_CONFIDENCE <= proposal.confidence < min_confidence),
        rejected=tuple(rejected),
    )


def _is_confidence(value: float) -> bool:
    return math.isfinite(value) and 0.0 <= value <= 1.0
