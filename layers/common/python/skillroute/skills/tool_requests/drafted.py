"""What a language model wrote for a tool, before anybody looked at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.skills.classification.model import ToolProfile


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a language model wrote for a tool, as it came.

    Attributes
    ----------
    is_other_text : bool
        The requests that it has were written for another text of it: they go, whatever takes their place.
    """

    tool: ToolProfile
    requests: Sequence[object]
    is_other_text: bool = False
