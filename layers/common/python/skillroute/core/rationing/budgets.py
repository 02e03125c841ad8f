"""Budgets of work: how much callers and organisations may have done for them in a second (docs/adr/0065).

A unit is a plain search. Each budget fills again by its rate, up to what it holds; who has anything left may begin, and
what costs more than is left is owed. So no request is too large to be ever answered, and one is overdrawn by at most.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from skillroute.core.caller import Caller
from skillroute.core.errors.model import BudgetSpent, SkillrouteError
from skillroute.core.observability import Metric, count, event, logger
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown

HELD_S = 10.0
"""Of how many seconds a budget holds the units: what may come at once after a pause."""

SHARED_FROM = 16.0
"""Units that a process keeps to itself until it tells the others: a statement of 1 ms for 16 searches' work."""

_MAX_KEPT = 10_000
"""Budgets that are kept, of the organisations and callers that asked last."""
_STORE_RESTS_S = 30.0


class Charge(NamedTuple):
    """A charge to a budget: its key, the seconds of filling that the work costs, and whose it is."""

    key: str
    seconds: float
    rate: float
    whose: str


class SharedBudgets(Protocol):
    """The budgets of all processes together."""

    def charge(self, charges: Sequence[Charge]) -> float:
        """Charge all budgets, or none where one is spent; return the seconds until it is not, 0 where all were charged.

        Raises
        ------
        SkillrouteError
            They cannot be asked.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rates:
    """Units that a budget gets in a second; 0 is no limit."""

    organisation: float = 0.0
    caller: float = 0.0


class Budgets:
    """Charges callers and their organisations for work, before it is done. Safe to call from several threads.

    Parameters
    ----------
    rates : Rates
    shared : SharedBudgets, optional
        Those of all processes; while they cannot be asked, each process counts for itself alone.
    clock : callable
        Seconds; replaced in tests.
    """

    def __init__(self, rates: Rates, shared: SharedBudgets | None = None, clock: Clock = time.monotonic) -> None:
        self._rates = rates
        self._shared = shared
        self._clock = clock
        self._lock = threading.Lock()
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when a budget will be full again, if nothing is done
        # Units by key, of organisations and of callers: many callers of one must not push out other organisations.
        self._untold: dict[str, OrderedDict[str, float]] = defaultdict(OrderedDict)
        self._store = Cooldown(_STORE_RESTS_S, clock)

    def charge(self, caller: Caller, units: float) -> None:
        """Charge for work that is about to begin.

        Raises
        ------
        BudgetSpent
            The caller's budget or that of its organisation is spent; nothing was charged.
        """
        charges = self._charges(caller, units)
        if not charges:
            return
        with self._lock:
            now = self._clock()
            wait_s, spent = self._longest_wait(charges, now)
            if wait_s < 0.0:
                for charge in charges:
                    self._full_at[charge.key] = max(self._full_at.pop(charge.key, now), now) + charge.seconds
                self._forget(now)
                untold = self._to_be_told(charges, units) if self._shared is not None else []
        if wait_s >= 0.0:  # logged when others may go on
            raise _spent(wait_s, spent, spent.whose, units)
        if untold:
            self._tell(charges, units, untold)

    def _charges(self, caller: Caller, units: float) -> list[Charge]:
        """Return the organisation's and the caller's; their names are in neither, and say nothing to who sees them."""
        org = "" if caller.org_id is None else f"={caller.org_id}"
        whose = (
            ("organisation", self._rates.organisation, (org,)),
            ("caller", self._rates.caller, (org, "" if caller.name is None else f"={caller.name}")),
        )
        return [
            Charge(_key(of, *names), units / rate, rate, of) for of, rate, names in whose if rate > 0.0 and units > 0.0
        ]

    def _longest_wait(self, charges: Sequence[Charge], now: float) -> tuple[float, Charge]:
        """Return in how many seconds there is some of all budgets, less than 0 where there is, and the last of them."""
        waits = [(self._full_at.get(charge.key, now) - now - HELD_S, charge) for charge in charges]
        return max(waits, key=lambda found: found[0])

    def _to_be_told(self, charges: Sequence[Charge], units: float) -> list[float]:
        """Return the units of each budget that nobody was told of, where one has as many as are told; else nothing.

        Those of the organisation are its callers' together: many who ask little are told of as well.
        """
        untold = [self._untold[charge.whose].pop(charge.key, 0.0) + units for charge in charges]
        if max(untold) >= SHARED_FROM:
            return untold
        for charge, of_it in zip(charges, untold, strict=True):
            kept = self._untold[charge.whose]
            kept[charge.key] = of_it
            if len(kept) > _MAX_KEPT:
                kept.popitem(last=False)  # of whom nothing was heard for the longest
        return []

    def _tell(self, charges: Sequence[Charge], units: float, untold: Sequence[float]) -> None:
        """Charge the shared budgets with what was done since the last time; where they are spent, refuse."""
        if self._shared is None or self._store.failure() is not None:
            return
        told = [charge._replace(seconds=of_it / charge.rate) for charge, of_it in zip(charges, untold, strict=True)]
        try:
            wait_s = self._shared.charge(told)
        except SkillrouteError as error:
            # The answer is worth more than its count: this process goes on by what it has counted itself.
            logger.warning("shared budgets not charged", extra={"reason": str(error)})
            count(Metric.BUDGETS_UNSHARED)
            self._store.failed(str(error))
            return
        if wait_s <= 0.0:
            return
        with self._lock:
            now = self._clock()
            for charge, of_it in zip(charges, untold, strict=True):
                kept = self._untold[charge.whose]
                kept[charge.key] = kept.get(charge.key, 0.0) + of_it - units
                if charge.key in self._full_at:  # nothing is done: colleagues must not pay for it
                    self._full_at[charge.key] -= charge.seconds
            # Others of the organisation ask for themselves: which of the two is spent was not said.
            own = charges[-1].key
            self._full_at[own] = max(self._full_at.get(own, now), now + HELD_S + min(wait_s, 1.0))
        raise _spent(wait_s, charges[-1], " or of this ".join(charge.whose for charge in charges), units)

    def _forget(self, now: float) -> None:
        """Let go of what is full, and of what was charged longest ago where there are too many."""
        while self._full_at:
            key, full_at = next(iter(self._full_at.items()))
            if full_at > now and len(self._full_at) <= _MAX_KEPT:
                return
            del self._full_at[key]


def _key(of: str, *names: str) -> str:
    named = "\0".join(names).encode("utf-8", "surrogatepass")
    return f"{of}:{hashlib.sha256(named).hexdigest()[:32]}"


def _spent(wait_s: float, charge: Charge, whose: str, units: float) -> BudgetSpent:
    seconds = max(1, math.ceil(wait_s))
    event("budget.spent", Metric.BUDGET_SPENT, budget=charge.key, units=round(units, 1), retry_after_s=seconds)
    return BudgetSpent(
        f"the budget of this {whose} is spent, and this costs as much as {units:.3g} plain searches: "
        f"try again in {seconds} s",
        seconds,
    )
