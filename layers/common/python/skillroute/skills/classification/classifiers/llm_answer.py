"""A language model's answer, read without trusting it: it may ignore the schema, and its texts will be stored."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.errors.model import ClassifierAnswerInvalid
from skillroute.core.input.hidden_text import visible
from skillroute.skills.classification.model import Classification, ProposedAssignment, SkillDraft

_MAX_ID_LENGTH = 100  # more than an id may have, so that no cut makes one
_MAX_REASONING_LENGTH = 500
_MAX_NAME_LENGTH = 255
_MAX_DESCRIPTION_LENGTH = 1000
_UNSTORABLE = frozenset({"Cc", "Cs"})  # control characters, NUL among them, and lone surrogates


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The usable part of an answer, and the rest.

    Attributes
    ----------
    malformed : int
        Assignments and suggestions that are none.
    not_offered : tuple of str
        Skills that the model was not asked about, invented ones among them.
    """

    classification: Classification
    malformed: int
    not_offered: tuple[str, ...]


def read_answer(answer: Mapping[str, Any], offered: Collection[str], *, with_requests: bool = False) -> ReadAnswer:
    """Read an answer. What is wrong with one assignment costs only that one, and requests are passed on unread.

    A confidence outside 0..1 is a number and stays: `classification.settle` judges it. What the model called
    primary is not read, for the most confident assignment is (decision 15).

    Raises
    ------
    ClassifierAnswerInvalid
        It has no list of assignments.
    """
    entries = answer.get("assignments")
    if not isinstance(entries, list):
        raise ClassifierAnswerInvalid("the language model answered without a list of assignments")
    read = [_assignment(entry) for entry in entries]
    proposed = [proposal for proposal in read if proposal is not None]
    drafted = answer.get("suggested_new_skill")
    suggestion = _suggestion(drafted)
    requests = answer.get("requests") if with_requests else None
    return ReadAnswer(
        classification=Classification(
            tuple(proposal for proposal in proposed if proposal.skill_id in offered),
            suggestion,
            _listed(requests) if with_requests else None,
        ),
        malformed=len(read)
        - len(proposed)
        + (drafted is not None and suggestion is None)
        + (requests is not None and not isinstance(requests, list)),
        not_offered=tuple(proposal.skill_id for proposal in proposed if proposal.skill_id not in offered),
    )


def _listed(requests: object) -> tuple[object, ...]:
    return tuple(requests) if isinstance(requests, list) else ()


def storable(text: object, longest: int) -> str | None:
    """Return a text on one line, without what PostgreSQL or a log cannot hold, and cut; None when nothing is left."""
    if not isinstance(text, str):
        return None
    kept = "".join(c for c in visible(text) if c.isspace() or unicodedata.category(c) not in _UNSTORABLE)
    return " ".join(kept.split())[:longest].rstrip() or None


def _assignment(entry: object) -> ProposedAssignment | None:
    if not isinstance(entry, Mapping):
        return None
    skill_id, confidence = storable(entry.get("skill_id"), _MAX_ID_LENGTH), _number(entry.get("confidence"))
    if skill_id is None or confidence is None:
        return None
    return ProposedAssignment(skill_id, confidence, storable(entry.get("reasoning"), _MAX_REASONING_LENGTH))


def _number(value: object) -> float | None:
    """Return a finite number as a float; None for everything else, booleans among it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON's integers have no end
        return None
    return number if math.isfinite(number) else None


def _suggestion(draft: object) -> SkillDraft | None:
    if not isinstance(draft, Mapping):
        return None
    name = storable(draft.get("name"), _MAX_NAME_LENGTH + 1)
    description = storable(draft.get("description"), _MAX_DESCRIPTION_LENGTH)
    if name is None or len(name) > _MAX_NAME_LENGTH or description is None:
        return None
    return SkillDraft(name, description, storable(draft.get("reasoning"), _MAX_REASONING_LENGTH))
