"""Receipts of searches for tools: what was asked, and what was shown for it; another slice keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import EmbeddingModel, Vector

Door = Literal["http", "mcp", "console"]
"""The way that a search came in."""


class Shown(NamedTuple):
    """A tool of an answer: its id, the hash of its content, and the probability that it had; None where it had none."""

    tool_id: int
    content_hash: str
    probability: float | None


class SearchedText(NamedTuple):
    """A text that was searched for, and what was shown for it.

    Attributes
    ----------
    vector : list of float or None
        None where words alone ranked.
    shown : sequence of Shown
        Best first; with needs those that serve this one.
    no_match : bool
        Nothing seemed to fit it.
    """

    text: str
    vector: Vector | None
    shown: Sequence[Shown]
    no_match: bool


@dataclass(frozen=True, slots=True)
class SearchReceipt:
    """A search as it is handed over: its needs, then its query, with the model of their vectors."""

    search_id: UUID
    caller: Caller
    door: Door
    asked_at: datetime
    model: EmbeddingModel | None
    texts: Sequence[SearchedText]


class KeepsReceipts(Protocol):
    """Keeps receipts, without letting a search wait."""

    def note(self, receipt: SearchReceipt) -> None:
        """Take a receipt over. Raises nothing: what is lost is counted."""
        ...
