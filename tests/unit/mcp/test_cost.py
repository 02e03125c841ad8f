"""What requests of the protocol cost, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.mcp.cost import check_batch, cost_of
from skillroute.mcp.rpc import Message, RpcError
from skillroute.mcp.tools.tool_details import MAX_IDS
from skillroute.search.cost import MAX_UNITS

from tests.unit.search.test_cost import LONG


def call(**arguments: Any) -> Message:
    return Message("tools/call", {"name": "search_tools", "arguments": arguments}, 1)


def test_lists_and_plain_calls_cost_one_and_greetings_nothing() -> None:
    assert cost_of(Message("initialize", {}, 1)) == 0.0
    assert cost_of(Message("resources/list", {}, 1)) == 1.0
    assert cost_of(call(query="water the plants")) == 1.0


def test_what_is_not_done_is_not_charged_for() -> None:
    def cost(name: Any, **arguments: Any) -> float:
        return cost_of(Message("tools/call", {"name": name, "arguments": arguments}, 1))

    assert cost("get_tool_details", ids=list(range(MAX_IDS))) == 2.0
    assert cost("get_tool_details", ids=list(range(14_990))) == 2.0
    assert cost("get_tool_details", ids=[1], query=LONG, needs=[LONG] * 10) < 1.1
    assert cost("search_tools", query="water the plants", ids=list(range(14_990))) == 1.0
    assert cost("search_skills", query=LONG, limit=50) == cost("search_tools", query=LONG, limit=50) > 1.0
    for name in ("list_tool_groups", "no_such_tool", None, []):
        assert cost(name, query=LONG, needs=[LONG] * 10, ids=[1] * 1000) == 1.0


def test_the_heaviest_call_costs_no_more_than_a_search_may() -> None:
    assert 50.0 < cost_of(call(needs=[LONG] * 10, limit=50, budget_tokens=20_000)) < MAX_UNITS


def test_budgets_of_tokens_and_long_queries_cost_more() -> None:
    assert 6.0 < cost_of(call(query=LONG, limit=50, budget_tokens=20_000)) < 9.0
    assert cost_of(call(query=LONG, limit="50")) == cost_of(call(query=LONG, limit=50))


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        7,
        {"query": 7, "limit": {}, "budget_tokens": True},
        {"query": "x" * 10**6, "limit": 10**30, "budget_tokens": -5},
        {"limit": "9" * 5000, "ids": [1] * 3},
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_nobody_has_checked_yet_has_a_cost_within_bounds(arguments: Any) -> None:
    assert 1.0 <= cost_of(Message("tools/call", {"name": "search_tools", "arguments": arguments}, 1)) < 12.0


def test_a_batch_that_costs_too_much_is_refused_with_the_limit_and_what_to_do() -> None:
    heavy = call(query=LONG, limit=50, budget_tokens=20_000)
    check_batch([heavy] * 7)
    with pytest.raises(RpcError, match=r"\d+ plain searches together; 60 are allowed: send fewer at once"):
        check_batch([heavy] * 10)
