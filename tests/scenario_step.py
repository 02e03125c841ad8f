"""What the steps of a scenario are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Check = Callable[[Any], object]
"""Takes the JSON of an answer: of an HTTP function its body. True, or anything true, when it is right."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event, for one function.

    Attributes
    ----------
    status : int or None
        What an HTTP function must answer; None of the others, which have no status.
    """

    function: str
    event: str
    status: int | None
    check: Check = lambda _: True
