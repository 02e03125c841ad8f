"""The rules in force, read with one small query and remembered for a moment."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING, Rights, rights_of
from skillroute.core.rights.model import Rule
from skillroute.core.rights.repository import RuleRepository

REMEMBERED_S = 2.0
"""The longest that another process goes by rules that have changed meanwhile."""

_MAX_ORGANISATIONS = 1_000


@dataclass(frozen=True, slots=True)
class _Known:
    rules: tuple[Rule, ...]
    own_keys: Mapping[str, str]
    read_at: float


class RulesInForce:
    """The rights of callers. Safe to call from several threads.

    Parameters
    ----------
    database : callable
        Returns the database, which is opened when rules are first asked for.
    clock : callable
        Seconds.
    """

    def __init__(self, database: Callable[[], Database], clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._remembered: OrderedDict[str | None, _Known] = OrderedDict()
        self._changes = 0

    def known(self, caller: Caller) -> Rights | None:
        """Return the rights where they are at hand; None where they have to be read."""
        if caller.is_operator:
            return EVERYTHING
        with self._lock:
            known = self._remembered.get(caller.org_id)
        if known is None or self._clock() - known.read_at >= REMEMBERED_S:
            return None
        return _of(caller, known)

    def __call__(self, caller: Caller) -> Rights:
        """Return the rights. Raises `DatabaseUnavailable`: nothing is found without rules."""
        found = self.known(caller)
        return _of(caller, self._read(caller.org_id)) if found is None else found

    def read(self, caller: Caller) -> Rights:
        """Return the rights as they are at this moment. Raises `DatabaseUnavailable`."""
        return EVERYTHING if caller.is_operator else _of(caller, self._read(caller.org_id))

    def forget(self) -> None:
        """Forget what is remembered: rules have changed."""
        with self._lock:
            self._changes += 1
            self._remembered.clear()

    def _read(self, org_id: str | None) -> _Known:
        changes, now = self._changes, self._clock()

        def read(session: Session) -> _Known:
            repository = RuleRepository(session)
            rules = repository.in_force(org_id)
            return _Known(tuple(rules), repository.own_keys(org_id, rules), now)

        known = self._database().read(read)
        with self._lock:
            if changes == self._changes:  # else what was read may be from before the change
                self._remembered[org_id] = known
                self._remembered.move_to_end(org_id)
                if len(self._remembered) > _MAX_ORGANISATIONS:
                    self._remembered.popitem(last=False)
        return known


def _of(caller: Caller, known: _Known) -> Rights:
    return rights_of(
        known.rules,
        roles=caller.roles,
        groups=caller.groups,
        is_exempt=caller.is_operator,
        own_keys=known.own_keys,
    )
