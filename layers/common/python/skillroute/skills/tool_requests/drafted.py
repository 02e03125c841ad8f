"""Requests that a language model wrote for a tool, unchecked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.skills.classification.model import ToolProfile


@dataclass(frozen=True, slots=True)
class Drafted:
    """Unchecked requests of a language model for a tool.

    Attributes
    ----------
    is_other_text : bool
        The requests that it has were written for another text of it: they go, whatever takes their place.
    """

    tool: ToolProfile
    requests: Sequence[object]
    is_other_text: bool = False
