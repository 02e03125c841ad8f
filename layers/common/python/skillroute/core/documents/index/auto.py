"""PostgreSQL answers until this process has a replica of its own, built in the background (docs/adr/0062)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property

from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.documents.replica_port import IndexStatus
from skillroute.core.errors.model import DatabaseUnavailable, IndexNoRoom, IndexNotReady
from skillroute.core.observability import Metric, count, logger
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown

_MAX_PAUSE_S = 0.05
"""The most that building waits for searches, each time: on Lambda there is hardly any time between them."""

_COUNT_AGAIN_AFTER_S = 600.0


class AutoReplica:
    """`IndexReplica` over PostgreSQL and a replica, whichever can answer at once.

    Parameters
    ----------
    in_postgres : PostgresReplica
    make_embedded : callable
        Makes the replica of this process when it is first needed.
    count_up_to : callable
        Counts documents, up to some number.
    build_up_to : int
        Up to how many documents the replica is built where PostgreSQL can be searched; 0 for never.
    """

    def __init__(
        self,
        in_postgres: PostgresReplica,
        make_embedded: Callable[[], EmbeddedReplica],
        count_up_to: Callable[[int], int],
        *,
        build_up_to: int,
        clock: Clock = time.monotonic,
    ) -> None:
        self._in_postgres = in_postgres
        self._make_embedded = make_embedded
        self._count_up_to = count_up_to
        self._build_up_to = build_up_to
        self._too_many = Cooldown(_COUNT_AGAIN_AFTER_S, clock)
        self._idle = threading.Condition()
        self._searching = 0
        self._is_told = False

    @cached_property
    def embedded(self) -> EmbeddedReplica:
        """The replica of this process; before it is built it holds nothing."""
        return self._make_embedded()

    @property
    def is_ready(self) -> bool:
        try:
            return self._has_replica or self._in_postgres.can_answer()
        except DatabaseUnavailable:
            return True  # the search says so

    def current(self, on_stale: Callable[[], object] = lambda: None) -> AbstractContextManager[LentIndex]:
        """Lend the replica where it is built, else PostgreSQL; where that cannot be searched, build the replica first.

        Where PostgreSQL answers, the replica is begun when the search is over. It answers, too, while the replica has
        no room for what was changed.

        Raises what `LendsIndex.current` does.
        """
        if self._has_replica:
            return self._up_to_date(on_stale)
        try:
            index = self._in_postgres.lent()
        except IndexNotReady as error:
            count(Metric.INDEX_NOT_READY)
            if not self._is_told:  # it stays so until an operator acts
                self._is_told = True
                logger.warning("index in PostgreSQL not ready", extra={"reason": str(error)})
            return self.embedded.current(on_stale)
        return self._counted(index)

    def status(self) -> IndexStatus:
        embedded = self.embedded.status() if self._has_replica else None
        if embedded is not None and not embedded.stale:
            return embedded
        in_postgres = self._in_postgres.status()
        return in_postgres if in_postgres.ready else embedded or self.embedded.status()

    def lag(self) -> int:
        return self._in_postgres.lag()

    def catch_up(self, within_s: float, *, check: bool = False) -> None:
        """Fill PostgreSQL; a replica catches up before it answers."""
        self._in_postgres.catch_up(within_s, check=check)

    def close(self) -> None:
        self._build_up_to = 0  # a search that is under way begins none any more
        if "embedded" in self.__dict__:
            self.embedded.close()

    @property
    def _has_replica(self) -> bool:
        return "embedded" in self.__dict__ and self.embedded.is_ready

    def _build_beside(self) -> None:
        if self._build_up_to and self._too_many.failure() is None:
            self.embedded.build_ahead(self._is_wanted, self._let_searches_go_first)

    def _is_wanted(self) -> bool:
        """Count in the thread that would build: it takes longer than a search."""
        if self._count_up_to(self._build_up_to + 1) <= self._build_up_to:
            return True
        self._too_many.failed(f"there are more than {self._build_up_to} documents")
        return False

    def _let_searches_go_first(self) -> None:
        with self._idle:
            self._idle.wait_for(lambda: self._searching == 0, timeout=_MAX_PAUSE_S)

    @contextmanager
    def _up_to_date(self, on_stale: Callable[[], object]) -> Iterator[LentIndex]:
        """Lend the replica, or PostgreSQL in the place of one that lacks changes; that one where nothing else can."""
        with ExitStack() as lent:
            try:
                index = lent.enter_context(self.embedded.current(never_stale=True))
            except IndexNoRoom:
                try:
                    index = self._in_postgres.lent()
                except IndexNotReady:
                    index = lent.enter_context(self.embedded.current(on_stale))
            yield index

    @contextmanager
    def _counted(self, index: LentIndex) -> Iterator[LentIndex]:
        with self._idle:
            self._searching += 1
        try:
            yield index
        finally:
            with self._idle:
                self._searching -= 1
                self._idle.notify_all()
            # Not before: the first search loads a model and waits longest, and on Lambda building would take its core.
            self._build_beside()
