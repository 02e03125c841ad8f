"""Who goes first: plain requests before heavy ones of the same process."""

from __future__ import annotations

import threading

import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.model import BudgetSpent
from skillroute.core.rationing import turns as turns_module
from skillroute.core.rationing.budgets import Budgets, Rates
from skillroute.core.rationing.turns import Turns
from skillroute.core.rationing.work import HEAVY_UNITS, Work


@pytest.fixture
def turns() -> Turns:
    return Turns()


def heavy_in_thread(turns: Turns) -> tuple[threading.Thread, threading.Event, threading.Event]:
    """Start heavy work that gives way once; return what tells that it is about to, and that it went on."""
    begun, went_on = threading.Event(), threading.Event()

    def work() -> None:
        with turns.heavy():
            begun.set()
            turns.give_way()
            went_on.set()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, begun, went_on


def test_heavy_work_waits_for_plain_requests_and_goes_on_behind_them(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "_GIVEN_S", 30.0)
    monkeypatch.setattr(turns_module, "_GIVEN_IN_ALL_S", 30.0)
    with turns.plain():
        thread, begun, went_on = heavy_in_thread(turns)
        assert begun.wait(10)
        assert not went_on.wait(0.05)
    assert went_on.wait(10)
    thread.join()


def test_heavy_work_comes_to_an_end_beside_plain_requests_without_end(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "_GIVEN_IN_ALL_S", 0.1)
    with turns.plain():
        thread, _, went_on = heavy_in_thread(turns)
        assert went_on.wait(10)
        thread.join()


def test_plain_work_never_waits(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module.threading.Condition, "wait_for", lambda *_: pytest.fail("it waited"))
    with turns.plain():
        turns.give_way()


def test_what_costs_much_is_heavy(turns: Turns) -> None:
    work = Work(Budgets(Rates()), turns)
    with work(Caller(), HEAVY_UNITS):
        assert turns.is_heavy
    with work(Caller(), HEAVY_UNITS - 0.1):
        assert not turns.is_heavy
        assert turns._plain == 1
    assert not turns._plain


def test_who_is_refused_is_waited_for_by_nobody(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "plain", lambda: pytest.fail("it was counted"))
    budgets = Budgets(Rates(caller=1.0))
    budgets.charge(Caller(), 100.0)
    with pytest.raises(BudgetSpent), Work(budgets, turns)(Caller(), 1.0):
        pytest.fail("it was not refused")
