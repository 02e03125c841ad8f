"""The port of classifiers, which classify tools into skills, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillroute.skills.classification.model import Classification, SkillProfile, ToolProfile
from skillroute.skills.model import AssignmentSource


class Classifier(Protocol):
    """Proposes skills for a tool. What becomes of a proposal `classification.settle` decides."""

    @property
    def name(self) -> str:
        """The name that is stored with its assignments: ``similarity``, ``openai/gpt-4o-mini``, ..."""
        ...

    @property
    def source(self) -> AssignmentSource: ...

    @property
    def concurrency(self) -> int:
        """How many tools may be given to it at once, from as many threads."""
        ...

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        """Propose skills for a tool out of `skills`.

        Raises
        ------
        ClassifierUnavailable
            It failed, was throttled or did not answer within `timeout_s` seconds for one attempt; a timeout is tried
            once more.
        ClassifierAnswerInvalid
            It did not answer with a classification.
        """
        ...
