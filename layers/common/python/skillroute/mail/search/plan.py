"""The planner: what runs, by what was asked for, what the deployment says, and what is there (message-search, 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from skillroute.mail.search.cursor import CursorEngine
from skillroute.mail.search.model import DowngradeReason, EngineSetting, Mode

Part = Literal["index", "model", "reranker"]
Missing = Mapping[Part, DowngradeReason]
"""The parts that are not to be had, each with why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a search: what runs.

    Attributes
    ----------
    mode : Mode
        As it is served.
    engine : "postgres", "bm25" or "hybrid"
        Who orders.
    reason : DowngradeReason or None
        Why it is less than what was asked for, or another engine than the usual one.
    """

    mode: Mode
    engine: CursorEngine
    reason: DowngradeReason | None = None


_Row = tuple[frozenset[EngineSetting | None], frozenset[Mode], tuple[Part, ...], Mode, CursorEngine]

_ANY: frozenset[Mode] = frozenset({"lexical", "semantic", "hybrid", "hybrid_rerank"})
_WITH_MODEL = _ANY - {"lexical"}
_FORCED: frozenset[EngineSetting | None] = frozenset({"postgres", "shadow"})
_FREE: frozenset[EngineSetting | None] = frozenset({"bm25", "hybrid", None})


def _only(mode: Mode) -> frozenset[Mode]:
    return frozenset({mode})


# The first row whose setting and mode fit and whose needs are there. The needs stand in the order in which they are
# missed: with several away, the first says why.
_TABLE: tuple[_Row, ...] = (
    # setting  asked for                needs                            runs             ordered by
    (_FORCED, _ANY,                    (),                              "lexical",       "postgres"),
    (_FREE,   _only("hybrid_rerank"),  ("index", "model", "reranker"),  "hybrid_rerank", "hybrid"),
    (_FREE,   _only("hybrid_rerank"),  ("index", "model"),              "hybrid",        "hybrid"),
    (_FREE,   _only("hybrid"),         ("index", "model"),              "hybrid",        "hybrid"),
    (_FREE,   _only("semantic"),       ("index", "model"),              "semantic",      "hybrid"),
    (_FREE,   _only("lexical"),        ("index",),                      "lexical",       "bm25"),
    (_FREE,   _WITH_MODEL,             ("index",),                      "lexical",       "bm25"),
    (_FREE,   _ANY,                    (),                              "lexical",       "postgres"),
)  # fmt: skip


def default_mode(mode: Mode | None, setting: EngineSetting | None) -> Mode:
    """Return what a query asks for, which need not say it."""
    return mode or ("hybrid" if setting == "hybrid" else "lexical")


def plan(mode: Mode, setting: EngineSetting | None, missing: Missing) -> Plan:
    """Return what runs.

    Examples
    --------
    >>> plan("hybrid_rerank", None, {"reranker": "feature_unavailable"})
    Plan(mode='hybrid', engine='hybrid', reason='feature_unavailable')
    """
    fitting = [row for row in _TABLE if setting in row[0] and mode in row[1]]
    _, _, _, runs, engine = next(row for row in fitting if not any(part in missing for part in row[2]))
    if setting in _FORCED:
        return Plan(runs, engine, "kill_switch")
    reason = next((missing[part] for part in fitting[0][2] if part in missing), None)
    return Plan(runs, engine, reason)
