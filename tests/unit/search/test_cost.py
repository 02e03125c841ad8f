"""What searches cost, and how much a batch may."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.errors.model import InvalidInput
from skillroute.search.batch.search import MAX_SEARCHES
from skillroute.search.cost import MAX_UNITS, cost_of, cost_of_batch, cost_of_one
from skillroute.search.model import SearchRequest

LONG = ", ".join(f"water plant number {number} in the garden" for number in range(30))[:1000]
HEAVIEST: dict[str, Any] = {
    "query": LONG,
    "strategy": "hybrid",
    "limit": 50,
    "skill_limit": 10,
    "explain": True,
    "collapse_duplicates": True,
}


def cost(**given: Any) -> float:
    return cost_of(SearchRequest(**{"query": "water the plants", **given}))


def test_a_plain_search_is_the_unit() -> None:
    assert cost() == 1.0
    assert cost(strategy="direct", mode="semantic", include_schemas=False) == 1.0


@pytest.mark.parametrize(
    "more",
    [
        {"limit": 50},
        {"explain": True},
        {"collapse_duplicates": True},
        {"query": LONG},
        {"mode": "hybrid_rerank"},
        {"limit": 50, "explain": True},
    ],
    ids=str,
)
def test_what_takes_longer_costs_more(more: dict[str, Any]) -> None:
    assert cost(**more) > 1.0


def test_the_heaviest_cost_what_was_measured() -> None:
    assert 6.0 < cost_of(SearchRequest(**HEAVIEST)) < 8.0
    assert 3.5 < cost(query=LONG) < 5.5


def test_clauses_cost_nothing_where_they_are_not_looked_for() -> None:
    assert cost(query=LONG, mode="lexical") < 2.0


def test_as_many_plain_searches_as_a_batch_may_have_are_within_its_limit() -> None:
    plain = SearchRequest(query="water the plants", limit=50)
    assert cost_of_batch([plain] * MAX_SEARCHES) < MAX_UNITS


def test_a_batch_that_costs_too_much_is_refused_with_the_limit_and_what_to_do() -> None:
    with pytest.raises(InvalidInput, match=r"searches: cost as much as \d+ plain.*may cost 60: send fewer.*explain"):
        cost_of_batch([SearchRequest(**HEAVIEST)] * MAX_SEARCHES)


def test_one_search_with_needs_costs_no_more_than_a_batch_may() -> None:
    needs = [f"{number}: {LONG}"[:1000] for number in range(10)]
    allowed = SearchRequest(needs=needs, limit=50)
    assert cost_of_one(allowed) == cost_of(allowed) < MAX_UNITS
    with pytest.raises(InvalidInput, match=r"needs: cost as much as \d+ plain.*may cost 60: send fewer or shorter"):
        cost_of_one(SearchRequest(needs=needs, limit=50, explain=True))


def test_a_search_of_one_query_is_never_too_much() -> None:
    assert cost_of_one(SearchRequest(**HEAVIEST, mode="hybrid_rerank")) < MAX_UNITS


def test_what_could_not_be_read_costs_nothing() -> None:
    assert cost_of_batch([InvalidInput("limit", "is too high")]) == 0.0
