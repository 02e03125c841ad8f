"""Threads of requests: heavy ones keep none that a plain one could have, and no organisation keeps all."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio
import anyio.to_thread
import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.model import BudgetSpent
from skillroute.core.http.lanes import HEAVY_THREADS, Lanes
from skillroute.core.rationing.budgets import Budgets, Rates
from skillroute.core.rationing.turns import Turns
from skillroute.core.rationing.work import HEAVY_UNITS, Work

ACME, GLOBEX = Caller("acme", name="ann"), Caller("globex", name="ann")
THREADS = 4


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
def lanes(turns: Turns) -> Lanes:
    return Lanes(Work(Budgets(Rates()), turns))


def test_a_plain_request_has_a_thread_while_more_heavy_ones_are_under_way_than_there_are_threads(
    lanes: Lanes,
) -> None:
    go_on = threading.Event()
    ended: list[str] = []

    def heavy() -> None:
        assert go_on.wait(10)
        ended.append("heavy")

    async def all_at_once() -> None:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        async with anyio.create_task_group() as tasks:
            for _ in range(THREADS + 1):
                tasks.start_soon(lanes.charged, ACME, HEAVY_UNITS, heavy)
            await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(10):
                await lanes.charged(ACME, 1.0, lambda: ended.append("plain"))
            go_on.set()

    anyio.run(all_at_once)
    assert ended == ["plain"] + ["heavy"] * (THREADS + 1)


def test_a_plain_request_is_counted_until_it_is_answered_and_a_heavy_one_is_not(lanes: Lanes, turns: Turns) -> None:
    async def counted(units: float) -> int:
        return await lanes.run(ACME, units, lambda: turns._plain)

    assert anyio.run(counted, 1.0) == 1
    assert anyio.run(counted, HEAVY_UNITS) == 0
    assert not turns._plain


def test_an_organisations_heavy_requests_are_not_all_before_the_next_ones(lanes: Lanes) -> None:
    begun: list[str] = []
    go_on, next_ones = threading.Event(), threading.Event()

    def heavy(org: str) -> Callable[[], None]:
        def work() -> None:
            begun.append(org)
            if org == "globex":
                next_ones.set()
            assert go_on.wait(10)
            if len(begun) > 2 * HEAVY_THREADS:  # a thread of the others may still be starting
                assert next_ones.wait(10)

        return work

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(lanes.charged, ACME, HEAVY_UNITS, heavy("acme"))
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(lanes.charged, GLOBEX, HEAVY_UNITS, heavy("globex"))
            await anyio.wait_all_tasks_blocked()
            go_on.set()

    anyio.run(all_at_once)
    assert begun.count("acme") == 20
    assert "globex" in begun


def test_a_heavy_request_that_is_refused_leaves_its_place(turns: Turns) -> None:
    budgets = Budgets(Rates(caller=1.0))
    budgets.charge(ACME, 100.0)
    lanes = Lanes(Work(budgets, turns))

    async def one_after_another() -> None:
        for _ in range(HEAVY_THREADS + 1):
            with pytest.raises(BudgetSpent):
                await lanes.charged(ACME, HEAVY_UNITS, lambda: pytest.fail("it was not refused"))

    anyio.run(one_after_another)
