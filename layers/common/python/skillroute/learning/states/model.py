"""Values of what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from skillroute.core.embedding.model import Vector


@dataclass(frozen=True, slots=True)
class LearnedRequest:
    """A request that a tool serves: the mean of several searches that led to it.

    Attributes
    ----------
    nth : int
        Among those of the tool.
    vector : Vector
        L2 norm 1.
    share : float
        Of the successful searches near it, how many went to this tool; a half and more count as 1.
    words : sequence of str
        Those that three or more of its searches have.
    searches, callers : int
        How many searches it is the mean of, and how many callers made them.
    """

    tool_id: int
    nth: int
    vector: Vector
    share: float
    words: Sequence[str]
    searches: int
    callers: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tools that one task called, and in how many searches."""

    tool_id: int
    with_id: int
    searches: int


@dataclass(frozen=True, slots=True)
class NewState:
    """A state as it was learned; what was forgotten since it began is left out when it is stored."""

    org_id: str | None
    model: str
    was_better: bool
    report: Mapping[str, Any]
    requests: Sequence[LearnedRequest]
    pairs: Sequence[Pair]
    began_at: datetime


@dataclass(frozen=True, slots=True)
class StateHead:
    """A state without its vectors.

    Attributes
    ----------
    requests, tools : int
        How many learned requests it has now, and of how many tools: some may be forgotten since.
    """

    id: int
    org_id: str | None
    made_at: datetime
    model: str
    is_live: bool
    was_better: bool
    report: Mapping[str, Any] = field(default_factory=dict)
    requests: int = 0
    tools: int = 0


@dataclass(frozen=True, slots=True)
class LiveVersion:
    """The live state of an organisation as far as it must be known whether another one is to be loaded."""

    org_id: str | None
    id: int
    revision: int


@dataclass(frozen=True, slots=True)
class OfTool:
    """A learned request without its vector, with the tool that it is of; a `server` of "" means none."""

    tool_id: int
    server: str
    name: str
    words: Sequence[str]
    share: float
    searches: int
    callers: int


@dataclass(frozen=True, slots=True)
class UseCounts:
    """How much is kept of an organisation: searches with receipts, outcomes, and callers who are known."""

    searches: int
    outcomes: int
    callers: int
