"""Receipts of searches and outcomes of calls, as values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import Vector

Door = Literal["http", "mcp", "console"]
OutcomeKind = Literal["called", "succeeded", "failed", "wrong", "nothing_fits"]
Source = Literal["program", "person"]

MAX_REQUESTS_OF_A_TOOL = 8
"""Learned ones."""

MIN_SEARCHES = 3
"""That a learned request is the mean of, so that none of them can be read back."""


class Shown(NamedTuple):
    """A tool of an answer: its id, the hash of its content, and the probability that it had; None where it had none."""

    tool_id: int
    content_hash: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A text that was searched for, and what was shown for it.

    Attributes
    ----------
    nth : int
        Its place among the texts of the search: 0 for a query, or the place of a need.
    caller : str or None
        Who asked, as `caller_hash` returns it.
    may_teach : bool
        Whether its outcomes teach anything (`may_teach`).
    query : str or None
        Without secrets; None where texts are left out.
    model : str or None
        Of the vector, as `EmbeddingModel` prints itself.
    shown : sequence of Shown
        Best first; with needs those that serve this one.
    """

    search_id: UUID
    nth: int
    org_id: str | None
    caller: str | None
    may_teach: bool
    door: Door
    asked_at: datetime
    query: str | None
    query_hash: str
    model: str | None
    vector: Vector | None
    shown: Sequence[Shown]
    no_match: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a tool that a search had shown, or with `nothing_fits` of the search; then `tool_id` is None."""

    search_id: UUID
    tool_id: int | None
    outcome: OutcomeKind
    org_id: str | None
    caller: str | None
    may_teach: bool
    source: Source = "program"


def caller_hash(caller: Caller) -> str | None:
    """Return the key of a caller among others of its organisation; None for one without a name.

    A hash, as what is kept should not say who asked; of organisation and name, so that it is found again for a person
    who wants to be forgotten.
    """
    if caller.name is None:
        return None
    return hashlib.sha256(f"{caller.org_id or ''}\0{caller.name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def may_teach(caller: Caller, learn_global_from: Literal["administrators", "everyone"]) -> bool:
    """Return whether the use of a caller teaches anything.

    Members teach their own organisation. Callers without one use the global catalogue, which all organisations share:
    it learns from operators, or from all where the deployment says so.
    """
    return caller.org_id is not None or caller.is_operator or learn_global_from == "everyone"
