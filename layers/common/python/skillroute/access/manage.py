"""Rules of access, as operators write them: an organisation's its own, who has none the deployment's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.core.access import not_found, own, visible
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.model import MAX_RULES, Rule
from skillroute.core.rights.repository import RuleRepository


@dataclass(frozen=True, slots=True)
class Stored:
    """A rule that was written, with what there is nothing of: by field, the values that nothing is called."""

    rule: Rule
    unknown: Mapping[str, Sequence[str]]


class ManageRules:
    """`/api/v1/access/rules`.

    Parameters
    ----------
    changed : callable
        Called after each write: the process goes by it from its next request on, others within two seconds.
    """

    def __init__(self, database: Database, changed: Callable[[], object]) -> None:
        self._database = database
        self._changed = changed

    def rules(self, caller: Caller) -> list[Rule]:
        """Return the rules that apply to the caller's organisation, its own and the deployment's, by id."""
        return self._database.read(lambda session: RuleRepository(session).in_force(caller.org_id))

    def get(self, rule_id: int, caller: Caller) -> Rule:
        """Return a rule. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: _visible(session, rule_id, caller))

    def create(self, rule: Rule, caller: Caller) -> Stored:
        """Store a rule of the caller's organisation. Raises `InvalidInput` where it has as many as there may be."""

        def insert(session: Session) -> Stored:
            repository = RuleRepository(session)
            if repository.count(caller.org_id) >= MAX_RULES:
                raise InvalidInput(
                    "name", f"there are {MAX_RULES} rules, the most that one owner may have: delete one first"
                )
            stored = repository.insert(replace(rule, org_id=caller.org_id, created_by=caller.name))
            return Stored(stored, repository.unknown(stored))

        return self._written(insert)

    def replace(self, rule_id: int, rule: Rule, caller: Caller) -> Stored:
        """Write a rule over another. Raises `NotFound`, and `Forbidden` for one of the deployment's."""

        def write(session: Session) -> Stored:
            own(_visible(session, rule_id, caller), caller, "access rule", rule_id)
            stored = RuleRepository(session).replace(replace(rule, id=rule_id, org_id=caller.org_id))
            if stored is None:  # another request was faster
                raise not_found("access rule", rule_id)
            return Stored(stored, RuleRepository(session).unknown(stored))

        return self._written(write)

    def delete(self, rule_id: int, caller: Caller) -> None:
        """Delete a rule. Raises `NotFound`, and `Forbidden` for one of the deployment's."""

        def delete(session: Session) -> None:
            own(_visible(session, rule_id, caller), caller, "access rule", rule_id)
            if not RuleRepository(session).delete(rule_id, caller.org_id):
                raise not_found("access rule", rule_id)

        try:
            self._database.transact(delete)
        finally:
            self._changed()

    def _written(self, work: Callable[[Session], Stored]) -> Stored:
        try:
            return self._database.transact(work)
        finally:
            # Also where it failed: whether it was stored may be unknown.
            self._changed()


def _visible(session: Session, rule_id: int, caller: Caller) -> Rule:
    return visible(RuleRepository(session).get(rule_id, caller.org_id), "access rule", rule_id)
