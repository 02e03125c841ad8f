"""Requests that found nothing, judged requests, and receipts as they are looked at, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from skillroute.learning.model import OutcomeKind, Source
from skillroute.search.receipts import Door, Shown


@dataclass(frozen=True, slots=True)
class Wording:
    """Equal requests that found nothing that fits.

    Attributes
    ----------
    query : str or None
        None where texts are not kept.
    model : str or None
        Of the vector; vectors of two models are never compared.
    packed : bytes or None
        The vector as `to_bytes` packs it.
    callers : frozenset of str
        Hashes of those who are known.
    tools : mapping of int to int
        How often tools were shown for it, among the first five, by their ids.
    """

    query: str | None
    model: str | None
    packed: bytes | None
    searches: int
    callers: frozenset[str]
    last_at: datetime
    tools: Mapping[int, int]


class NamedTool(NamedTuple):
    """A tool by its id and how people name it; a `server` of "" means none."""

    id: int
    server: str
    name: str


class AskedWording(NamedTuple):
    """A wording of a group, with how often it was asked, by how many callers, and when last."""

    query: str
    searches: int
    callers: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class UnservedGroup:
    """Requests of one meaning that found nothing that fits.

    Attributes
    ----------
    query : str or None
        The most frequent wording; None where texts are not kept.
    wordings : sequence of str
        Some others.
    tools : sequence of int
        The ids of the tools that were shown most often all the same.
    asked : sequence of AskedWording
        The wordings with their counts, the most frequent first, `query` among them; of texts that are kept.
    """

    query: str | None
    wordings: Sequence[str]
    searches: int
    callers: int
    last_at: datetime
    tools: Sequence[int]
    asked: Sequence[AskedWording]


class JudgedRequest(NamedTuple):
    """A text with the titles of the tools that outcomes say are right for it; without any nothing is."""

    query: str
    titles: Sequence[str]
    searches: int
    last_at: datetime


class KeptOutcome(NamedTuple):
    """An outcome as it is stored."""

    tool_id: int | None
    outcome: OutcomeKind
    caller: str | None
    may_teach: bool
    source: Source
    reported_at: datetime


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A receipt as it is stored, but for its vector, with the outcomes of its search."""

    search_id: UUID
    nth: int
    caller: str | None
    may_teach: bool
    door: Door
    asked_at: datetime
    query: str | None
    query_hash: str
    model: str | None
    shown: Sequence[Shown]
    no_match: bool
    outcomes: Sequence[KeptOutcome]


class ReceiptPlace(NamedTuple):
    """The receipt that a page comes behind."""

    asked_at: datetime
    search_id: UUID
    nth: int


class Deleted(NamedTuple):
    """How many rows of a caller were deleted; `requests` are those that were learned from one caller alone."""

    receipts: int
    outcomes: int
    requests: int


class Forgotten(NamedTuple):
    """How much was forgotten of a tool, and in how many states."""

    requests: int
    pairs: int
    states: int
    outcomes: int
