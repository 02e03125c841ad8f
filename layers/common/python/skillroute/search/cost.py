"""The cost of searches, in units: a plain search of `POST /api/v1/search`, with its defaults, is one (docs/adr/0065).

The weights were measured over 10,000 tools (17 ms of a core for a unit), and are rounded up: eight clauses 4.4 units,
50 results explained 1.8, both with near-duplicates collapsed 6.6.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillroute.core.errors.model import InvalidInput, SkillrouteError
from skillroute.search.candidates.clauses import clauses
from skillroute.search.model import Mode, SearchRequest

MAX_UNITS = 60.0
"""Of one request: 60 plain searches, which is more than the 20 of a batch, or eight of the heaviest of one query."""

_PLAIN_LIMIT = 5
_RESULT = 0.01
_EXPLAINED_RESULT = 0.03
_CLAUSE = 0.42
_CHARACTER = 0.5 / 1000
_COLLAPSING = 0.25
_RERANKING = 4.0


def search_cost(
    query: str,
    *,
    limit: int = _PLAIN_LIMIT,
    mode: Mode | None = None,
    explain: bool = False,
    collapses: bool = False,
) -> float:
    """Return the units of a search; one that names no mode is taken for one of the hybrid modes.

    Examples
    --------
    >>> search_cost("send a letter")
    1.0
    >>> round(search_cost("water the plants, send a letter to Ann, and call the plumber", limit=50, explain=True), 2)
    4.27
    """
    units = 1.0 + _RESULT * max(0, limit - _PLAIN_LIMIT)
    if len(query) > 100:
        units += _CHARACTER * len(query)
    parts = len(clauses(query)) if mode not in {"semantic", "lexical"} else 0
    units += _CLAUSE * parts
    if explain:
        units += _EXPLAINED_RESULT * limit
    if collapses:
        units += _COLLAPSING
    if mode == "hybrid_rerank":
        units += _RERANKING
    return units


def cost_of(request: SearchRequest) -> float:
    """Return the units of a search; each need is one of its own."""
    return sum(
        search_cost(
            text,
            limit=request.most,
            mode=request.mode,
            explain=request.explain,
            collapses=request.collapse_duplicates,
        )
        for text in request.texts
    )


def cost_of_one(request: SearchRequest) -> float:
    """Return the units of a search that is asked for alone.

    Raises
    ------
    InvalidInput
        They are more than one request may have; only a search with many needs has as many.
    """
    units = cost_of(request)
    if units > MAX_UNITS:
        raise InvalidInput(
            "needs",
            f"cost as much as {units:.0f} plain searches together; a search may cost {MAX_UNITS:.0f}: send fewer or "
            "shorter needs in one call, or ask with a lower limit, or without explain",
        )
    return units


def cost_of_batch(searches: Iterable[SearchRequest | SkillrouteError]) -> float:
    """Return the units of all searches of a batch that could be read.

    Raises
    ------
    InvalidInput
        They are more than one batch may have.
    """
    costs = [cost_of(search) for search in searches if isinstance(search, SearchRequest)]
    units = sum(costs)
    if units > MAX_UNITS:
        raise InvalidInput(
            "searches",
            f"cost as much as {units:.0f} plain searches together, the dearest {max(costs):.1f}; a batch may cost "
            f"{MAX_UNITS:.0f}: send fewer in one call, or ask with shorter queries, a lower limit, or without explain",
        )
    return units
