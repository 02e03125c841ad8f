"""The index for searches that can do without it: they wait for it, but not for as long as building a new one takes."""

from __future__ import annotations

import threading

from skillroute.core.documents.index_lease import IndexLease
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.errors.model import IndexNotReady, SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.time.timing import Stopwatch
from skillroute.mail.search.budget import LEXICAL_ONLY_MS, Budget


def _refuse_stale() -> None:
    """Refuse an index that is behind: PostgreSQL answers there (message-search, section 2)."""
    raise IndexNotReady("the index lacks changes that are committed")


class ReadyIndex:
    """Lends the index of a replica. While there is none yet, one thread builds it, and searches go on without.

    Parameters
    ----------
    replica : IndexReplica
    wait_s : float
        The most that a search waits for the first one.
    """

    def __init__(self, replica: IndexReplica, *, wait_s: float) -> None:
        self._replica = replica
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._building: threading.Thread | None = None

    def lease(self, watch: Stopwatch, budget: Budget) -> IndexLease:
        """Return the lease of an index that is there.

        Raises
        ------
        IndexNotReady
            It is still being built, or behind.
        """
        if not self._replica.is_ready:
            with watch.stage("index_sync"):
                self._wait(budget)
        return IndexLease(self._replica, watch, _refuse_stale)

    def _wait(self, budget: Budget) -> None:
        left_ms = budget.left_ms
        wait_s = self._wait_s if left_ms is None else min(self._wait_s, (left_ms - LEXICAL_ONLY_MS) / 1000.0)
        with self._lock:
            if self._building is None or not self._building.is_alive():
                self._building = threading.Thread(target=self._build, name="first-index", daemon=True)
                self._building.start()
            building = self._building
        building.join(max(wait_s, 0.0))
        if building.is_alive():
            raise IndexNotReady("the index is being built")

    def _build(self) -> None:
        try:
            with self._replica.current():
                pass
        except SkillrouteError as error:
            # The search that waited asks again itself, and gets the error.
            logger.warning("index not built", extra={"reason": str(error)})
