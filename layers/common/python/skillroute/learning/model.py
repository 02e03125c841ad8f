"""Outcomes of calls as values, and who they are counted for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from skillroute.core.caller import Caller

OutcomeKind = Literal["called", "succeeded", "failed", "wrong", "nothing_fits"]
Source = Literal["program", "person"]

MAX_REQUESTS_OF_A_TOOL = 8
"""Learned ones."""

MIN_SEARCHES = 3
"""That a learned request is the mean of, so that none of them can be read back."""


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
