"""Looking at what use left behind, and having it deleted: each organisation its own (decision 26, ADR 71)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from skillroute.catalogue.access import visible_item
from skillroute.core.caller import Caller
from skillroute.core.listing import Listed
from skillroute.core.postgres.database import Database, Session
from skillroute.learning.access import require_operator_of_what_is_global
from skillroute.learning.model import caller_hash
from skillroute.learning.review.group import grouped
from skillroute.learning.review.model import (
    Deleted,
    Forgotten,
    JudgedRequest,
    KeptReceipt,
    NamedTool,
    ReceiptPlace,
    UnservedGroup,
)
from skillroute.learning.review.repository import ReviewRepository

BATCH = 5_000
"""Rows that one transaction deletes, so that no lock is held for long."""

_TEXTS = "requests of callers without an organisation are read"


class Unserved(NamedTuple):
    """A page of groups, how many there are in all, and the tools that these name, by id."""

    groups: Sequence[UnservedGroup]
    total: int
    tools: Mapping[int, NamedTool]


class ReviewUse:
    """Looks at the use of the caller's organisation; for callers without one, at that of those without one.

    Parameters
    ----------
    batch : int
        Rows that one transaction deletes.
    """

    def __init__(self, database: Database, *, batch: int = BATCH) -> None:
        self._database = database
        self._batch = batch

    def unserved(self, caller: Caller, *, days: int, limit: int, offset: int) -> Unserved:
        """Return a page of the requests of some days that found nothing that fits, by meaning, the largest first.

        Raises `Forbidden` for callers without an organisation but the operator.
        """
        require_operator_of_what_is_global(caller, _TEXTS)
        wordings = self._database.read(lambda session: _of(session, caller).unserved(days))
        groups = grouped(wordings)
        page = groups[offset : offset + limit]
        ids = {tool_id for group in page for tool_id in group.tools}
        tools = self._database.read(lambda session: _of(session, caller).tools(ids)) if ids else {}
        return Unserved(page, len(groups), tools)

    def judged(self, caller: Caller, *, days: int, limit: int, offset: int) -> tuple[list[JudgedRequest], int]:
        """Return a page of the requests of some days that outcomes judge, and how many there are in all.

        Raises `Forbidden` for callers without an organisation but the operator.
        """
        require_operator_of_what_is_global(caller, _TEXTS)
        return self._database.read(lambda session: _of(session, caller).judged(days, limit=limit, offset=offset))

    def receipts(
        self, caller: Caller, name: str | None, after: ReceiptPlace | None, *, limit: int
    ) -> Listed[KeptReceipt]:
        """Return receipts with their outcomes, the oldest first, of everyone or of the caller of a name."""
        of = None if name is None else _hash_of(caller, name)

        def read(session: Session) -> Listed[KeptReceipt]:
            repository = _of(session, caller)
            return Listed(repository.receipts(of, after, limit), *repository.count_receipts(of, after))

        return self._database.read(read)

    def delete(self, caller: Caller, name: str) -> Deleted:
        """Delete all receipts and outcomes of the caller of a name, some in each transaction, and what it alone taught.

        A learned request does not say whose it is: all that are of one caller alone go, last, so that a run that learns
        meanwhile finds nothing to bring them back.
        Where it fails halfway the others are left, and are deleted when it is asked for again.
        """
        of = _hash_of(caller, name)
        return Deleted(
            self._all(lambda session: _of(session, caller).delete_receipts(of, self._batch)),
            self._all(lambda session: _of(session, caller).delete_outcomes(of, self._batch)),
            self._all(lambda session: _of(session, caller).delete_learned_of_one_caller(self._batch)),
        )

    def forget(self, caller: Caller, item_id: int) -> Forgotten:
        """Forget what the caller's organisation learned of a tool, and what calls of it came to.

        The tool may be global: what others learned of it stays.

        Raises
        ------
        Forbidden
            All organisations would go by less, and the caller is not the operator.
        NotFound
            The caller sees no such tool.
        """
        require_operator_of_what_is_global(caller, "what was learned for the global catalogue is forgotten")

        def learned(session: Session) -> tuple[int, int, int]:
            visible_item(session, item_id, caller)
            return _of(session, caller).forget_tool(item_id)

        # Outcomes first: a run that learns meanwhile would bring back what is forgotten before they are.
        self._database.read(lambda session: visible_item(session, item_id, caller))
        outcomes = self._all(lambda session: _of(session, caller).delete_outcomes_of_tool(item_id, self._batch))
        requests, pairs, states = self._database.transact(learned)
        return Forgotten(requests, pairs, states, outcomes)

    def _all(self, delete: Callable[[Session], int]) -> int:
        """Delete until there is nothing left; return how many rows there were."""
        total = 0
        while (deleted := self._database.transact(delete)) > 0:
            total += deleted
            if deleted < self._batch:
                break
        return total


def _hash_of(caller: Caller, name: str) -> str:
    """Return the hash of the caller of a name, of the same organisation as the one who asks."""
    return str(caller_hash(Caller(org_id=caller.org_id, name=name)))


def _of(session: Session, caller: Caller) -> ReviewRepository:
    """Return what is kept of the use of the caller's organisation, as far as the caller may see it."""
    return ReviewRepository(session, caller.org_id, caller.rights)
