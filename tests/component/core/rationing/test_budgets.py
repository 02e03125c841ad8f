"""Budgets of work: by caller and by organisation, in the process and shared by all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.model import BudgetSpent, DatabaseUnavailable
from skillroute.core.observability import counts
from skillroute.core.rationing import budgets as budgets_module
from skillroute.core.rationing.budgets import HELD_S, SHARED_FROM, Budgets, Charge, Rates

ANN, BOB = Caller("acme", name="ann"), Caller("acme", name="bob")
OTHER, GLOBAL = Caller("globex", name="ann"), Caller(name="ann")
RATES = Rates(organisation=20.0, caller=10.0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Shared:
    """The budgets of all processes: what was charged, and how long to wait."""

    def __init__(self) -> None:
        self.charged: list[list[Charge]] = []
        self.wait_s = 0.0
        self.is_away = False

    def charge(self, charges: Sequence[Charge]) -> float:
        if self.is_away:
            raise DatabaseUnavailable("the disk of db.internal is full")
        self.charged.append(list(charges))
        return self.wait_s


def spend(budgets: Budgets, caller: Caller, units: float) -> None:
    budgets.charge(caller, units)


def test_who_has_spent_a_budget_is_told_when_there_is_some_again() -> None:
    clock = Clock()
    budgets = Budgets(RATES, clock=clock)
    spend(budgets, ANN, 10.0 * HELD_S)
    with pytest.raises(BudgetSpent, match=r"budget of this caller is spent.*try again in 1 s") as refused:
        spend(budgets, ANN, 1.0)
    assert refused.value.retry_after_s == 1
    clock.now += 0.1
    spend(budgets, ANN, 1.0)


def test_work_is_counted_and_not_requests() -> None:
    budgets = Budgets(RATES, clock=Clock())
    for _ in range(100):
        spend(budgets, ANN, 0.5)
    spend(budgets, ANN, 51.0)
    with pytest.raises(BudgetSpent):
        spend(budgets, ANN, 0.1)


def test_nothing_is_too_large_to_be_begun_and_what_is_overdrawn_is_owed() -> None:
    clock = Clock()
    budgets = Budgets(RATES, clock=clock)
    spend(budgets, ANN, 300.0)
    with pytest.raises(BudgetSpent) as refused:
        spend(budgets, ANN, 1.0)
    assert refused.value.retry_after_s == 20


def test_a_caller_leaves_the_others_of_its_organisation_theirs() -> None:
    budgets = Budgets(RATES, clock=Clock())
    spend(budgets, ANN, 100.0)
    with pytest.raises(BudgetSpent):
        spend(budgets, ANN, 1.0)
    spend(budgets, BOB, 1.0)


def test_many_callers_of_an_organisation_share_its_budget_and_no_other_organisation_notices() -> None:
    budgets = Budgets(RATES, clock=Clock())
    for number in range(4):
        spend(budgets, Caller("acme", name=f"agent {number}"), 50.0)
    with pytest.raises(BudgetSpent, match="budget of this organisation is spent"):
        spend(budgets, BOB, 1.0)
    spend(budgets, OTHER, 1.0)
    spend(budgets, GLOBAL, 1.0)


def test_who_is_refused_draws_from_no_budget() -> None:
    clock = Clock()
    budgets = Budgets(RATES, clock=clock)
    spend(budgets, ANN, 100.0)
    for _ in range(1000):
        with pytest.raises(BudgetSpent):
            spend(budgets, ANN, 5.0)
    spend(budgets, BOB, 90.0)


def test_names_that_join_to_the_same_text_have_budgets_of_their_own() -> None:
    budgets = Budgets(Rates(caller=10.0), clock=Clock())
    spend(budgets, Caller("a", name="b=c"), 100.0)
    spend(budgets, Caller("a=b", name="c"), 1.0)
    spend(budgets, Caller(None, name="c"), 100.0)
    spend(budgets, Caller("", name="c"), 1.0)


def test_without_rates_nothing_is_counted() -> None:
    budgets = Budgets(Rates(), clock=Clock())
    for _ in range(10):
        spend(budgets, ANN, 1e6)


def test_plain_searches_are_told_to_the_others_together() -> None:
    shared = Shared()
    budgets = Budgets(RATES, shared, Clock())
    for _ in range(19):
        spend(budgets, ANN, 1.0)
    assert [[charge.seconds for charge in told] for told in shared.charged] == [[SHARED_FROM / 20, SHARED_FROM / 10]]
    spend(budgets, ANN, 60.0)
    assert [charge.seconds for charge in shared.charged[1]] == [63.0 / 20, 63.0 / 10]


def test_no_name_is_told() -> None:
    shared = Shared()
    spend(Budgets(RATES, shared, Clock()), ANN, 60.0)
    assert not any(name in charge.key for charge in shared.charged[0] for name in ("acme", "ann"))


def test_what_other_processes_have_spent_is_refused_here_and_not_asked_for_again() -> None:
    clock, shared = Clock(), Shared()
    budgets = Budgets(RATES, shared, clock)
    shared.wait_s = 7.2
    with pytest.raises(BudgetSpent) as refused:
        spend(budgets, ANN, 60.0)
    assert refused.value.retry_after_s == 8
    with pytest.raises(BudgetSpent):
        spend(budgets, ANN, 1.0)
    assert len(shared.charged) == 1
    spend(budgets, OTHER, 1.0)


def test_without_the_shared_budgets_a_process_goes_on_by_its_own_and_says_so() -> None:
    clock, shared = Clock(), Shared()
    budgets = Budgets(RATES, shared, clock)
    shared.is_away = True
    before = counts().get("BudgetsUnshared", 0)
    spend(budgets, ANN, 60.0)
    spend(budgets, ANN, 40.0)
    assert counts()["BudgetsUnshared"] == before + 1
    with pytest.raises(BudgetSpent, match="this caller"):
        spend(budgets, ANN, 1.0)
    shared.is_away = False
    clock.now += 31.0
    spend(budgets, ANN, 60.0)
    assert len(shared.charged) == 1


def test_a_refusal_is_counted_and_logged_without_names(caplog: pytest.LogCaptureFixture) -> None:
    before = counts().get("BudgetSpent", 0)
    budgets = Budgets(RATES, clock=Clock())
    spend(budgets, ANN, 500.0)
    with pytest.raises(BudgetSpent):
        spend(budgets, ANN, 1.0)
    assert counts()["BudgetSpent"] == before + 1
    [line] = [record for record in caplog.records if record.getMessage() == "budget.spent"]
    assert "acme" not in str(vars(line))


def test_budgets_of_ever_new_callers_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(budgets_module, "_MAX_KEPT", 30)
    budgets = Budgets(RATES, Shared(), clock)
    for number in range(2000):
        spend(budgets, Caller(f"org {number}", name="x"), 1.0)
        clock.now += 0.1
    assert len(budgets._full_at) <= 31
    assert [len(kept) for kept in budgets._untold.values()] == [30, 30]


def test_what_several_callers_have_done_is_told_together_however_slowly_they_ask() -> None:
    """GIVEN budgets that are full again before the next request."""
    clock, shared = Clock(), Shared()
    budgets = Budgets(RATES, shared, clock)
    for number in range(160):
        spend(budgets, (ANN, BOB)[number % 2], 1.0)
        clock.now += 60.0
    told = [[charge.seconds for charge in charges] for charges in shared.charged]
    assert sum(of_organisation for of_organisation, _ in told) == pytest.approx(160.0 / 20)
    assert len(told) <= 2 * 160 / SHARED_FROM


def test_new_callers_of_one_organisation_do_not_push_out_what_was_not_told_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budgets_module, "_MAX_KEPT", 30)
    shared = Shared()
    budgets = Budgets(Rates(organisation=1000.0, caller=1000.0), shared, Clock())
    spend(budgets, OTHER, 15.0)
    for number in range(100):
        spend(budgets, Caller("acme", name=f"agent {number}"), 1.0)
    shared.charged.clear()
    spend(budgets, OTHER, 1.0)
    [[of_organisation, _]] = shared.charged
    assert of_organisation.seconds == 16.0 / 1000


def test_a_refusal_of_the_shared_budgets_draws_on_nobodys_and_is_not_forgotten() -> None:
    clock, shared = Clock(), Shared()
    budgets = Budgets(RATES, shared, clock)
    spend(budgets, ANN, 15.0)
    shared.wait_s = 7.2
    for _ in range(10):
        with pytest.raises(BudgetSpent):
            spend(budgets, ANN, 60.0)
        clock.now += 1.1
    shared.wait_s = 0.0
    shared.charged.clear()
    spend(budgets, BOB, 1.0)
    assert [[charge.seconds for charge in told] for told in shared.charged] == [[16.0 / 20, 1.0 / 10]]


def test_a_refusal_is_logged_when_others_may_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = Budgets(RATES, clock=Clock())
    was_locked: list[bool] = []
    monkeypatch.setattr(budgets_module, "event", lambda *_, **__: was_locked.append(budgets._lock.locked()))
    spend(budgets, ANN, 500.0)
    with pytest.raises(BudgetSpent):
        spend(budgets, ANN, 1.0)
    assert was_locked == [False]
