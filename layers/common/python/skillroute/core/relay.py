"""The relay, which runs every minute and does what was left behind (docs/adr/0010).

Every step may run in several relays at once, and may be repeated: work is locked while it is published, and embedding,
pruning and catching up are idempotent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from skillroute.core.documents.index_state import IndexStateRepository, renumber
from skillroute.core.errors.model import DependencyUnavailable, SkillrouteError
from skillroute.core.observability import Metric, count, gauge, logger
from skillroute.core.postgres.database import Database
from skillroute.core.queue.dispatch import Dispatch
from skillroute.core.queue.failed_work import FailedWork
from skillroute.core.queue.outbox import OutboxDepth, OutboxRepository
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline

_BATCH = 1000
_MODEL_KEPT_S = 86_400.0
"""How long the former model is searched after a change of model (docs/adr/0035)."""

_PUBLISH_WITHIN_S = 20.0
# A batch that is begun may take a quarter of a minute, and after 55 s Lambda ends a run.
_EMBED_UNTIL_S = 35.0
_EMBED_AT_LEAST_S = 5.0
# What changed is carried over first; the rest of the minute goes into filling a new generation.
_CATCH_UP_WITHIN_S = 5.0
_FILL_UNTIL_S = 45.0


@dataclass(slots=True)
class RelayReport:
    """The report of a run: what it did, and what waits.

    Attributes
    ----------
    embedded : int
        Rows that got the vector they waited for.
    again : int
        Work whose message should long have been done.
    lost : int
        Tools without a decision and that waited nowhere.
    due : int
        Work that was queued because its time had come.
    published, pruned : int
        Messages sent; changes of items that are gone, forgotten, and other rows that were too old.
    index_lag : int or None
        Changes that an index server has not seen, or documents that PostgreSQL has no point of yet; None for embedded
        replicas, which look for themselves.
    failed : list of str
        Steps that did not succeed; the next run tries them again.
    """

    embedded: int = 0
    again: int = 0
    lost: int = 0
    due: int = 0
    published: int = 0
    pruned: int = 0
    index_lag: int | None = None
    depths: list[OutboxDepth] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class Relay:
    """Takes up what was left behind.

    Parameters
    ----------
    dispatch : Dispatch
        Publishes what waits.
    failed_work : FailedWork
        Notifies people of work that was given up.
    queue_lost : callable
        Queues tools without a decision and that have waited nowhere for so many seconds, so many at most; returns
        how many.
    approve_waiting : callable
        Approves suggestions that were made often enough.
    embed_missing : callable
        Embeds what was written while the model was away, for so many seconds, and returns how many rows.
    catch_up : callable or None
        Brings an index server up to date within some seconds, and returns its lag before. None for embedded replicas.
    prunes : mapping of str to callable
        Delete what else is too old, by the names of the steps; each returns how many rows, of a bounded number.
    queues_due : mapping of str to callable
        Queue work whose time has come, by the names of the steps; each returns how much.
    again_after_s, lost_after_s : float
        After how long work that was published, and a tool that waits nowhere, are queued again: much longer than a
        message takes through all its attempts, or waits in a long queue.
    prune_after_s : float
        How long changes of items that are gone are kept. An index that slept for longer reads everything again.
    """

    def __init__(
        self,
        database: Database,
        dispatch: Dispatch,
        failed_work: FailedWork,
        queue_lost: Callable[[float, int], int],
        approve_waiting: Callable[[], object],
        embed_missing: Callable[[float], int],
        *,
        catch_up: Callable[[float], int] | None = None,
        prunes: Mapping[str, Callable[[], int]] = MappingProxyType({}),
        queues_due: Mapping[str, Callable[[], int]] = MappingProxyType({}),
        again_after_s: float = 4 * 3600.0,
        lost_after_s: float = 600.0,
        prune_after_s: float = 7 * 86_400.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._dispatch = dispatch
        self._failed_work = failed_work
        self._queue_lost = queue_lost
        self._approve_waiting = approve_waiting
        self._embed_missing = embed_missing
        self._catch_up = catch_up
        self._prunes = prunes
        self._queues_due = queues_due
        self._again_after_s = again_after_s
        self._lost_after_s = lost_after_s
        self._prune_after_s = prune_after_s
        self._clock = clock

    def __call__(self) -> RelayReport:
        """Run every step; one that fails is logged and does not keep the others from running.

        What may take long comes last, and within a time of its own: publishing a backlog, approving, embedding, then
        filling an index server.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached, so that no step can run.
        """
        report = RelayReport()
        embedding, filling = Deadline(_EMBED_UNTIL_S, self._clock), Deadline(_FILL_UNTIL_S, self._clock)
        # First of all, and unguarded: without PostgreSQL the run has failed, and its caller should know.
        report.again = self._publish_stale()
        report.lost = self._queue_lost(self._lost_after_s, _BATCH)
        with _Step("catch up", report):
            if self._catch_up is not None:
                report.index_lag = self._catch_up(_CATCH_UP_WITHIN_S)
        with _Step("renumber", report):
            renumber(self._database)
        with _Step("prune", report):
            report.pruned = self._database.transact(
                lambda session: IndexStateRepository(session).prune(older_than_s=self._prune_after_s)
            )
            self._database.transact(
                lambda session: IndexStateRepository(session).prune_models(older_than_s=_MODEL_KEPT_S)
            )
        for name, prune in self._prunes.items():
            with _Step(name, report):
                report.pruned += prune()
        for name, queue_due in self._queues_due.items():
            with _Step(name, report):
                report.due += queue_due()
        with _Step("measure", report):
            report.depths = self._database.read(lambda session: OutboxRepository(session).depths())
            _observe(report)
        with _Step("publish", report):
            report.published = self._dispatch.backlog(within_s=_PUBLISH_WITHIN_S)
        with _Step("approve", report):
            self._approve_waiting()
        with _Step("embed", report):
            report.embedded = self._embed_missing(max(_EMBED_AT_LEAST_S, embedding.remaining_s()))
        with _Step("fill", report):
            if self._catch_up is not None and not filling.is_over:
                self._catch_up(filling.remaining_s())
        _log(report)
        return report

    def _publish_stale(self) -> int:
        stale = self._database.transact(
            lambda session: OutboxRepository(session).publish_stale(
                older_than_s=self._again_after_s, most=self._failed_work.max_receives, limit=_BATCH
            )
        )
        for queue, work in stale.items():
            self._failed_work.given_up(queue, [failure for failure in work if failure.dead_at is not None])
        return sum(map(len, stale.values()))


class _Step:
    """Notes that a step failed instead of ending the run."""

    def __init__(self, name: str, report: RelayReport) -> None:
        self._name = name
        self._report = report

    def __enter__(self) -> None:
        return None

    def __exit__(self, exc_type: type[BaseException] | None, exc: BaseException | None, _: object) -> bool:
        if not isinstance(exc, SkillrouteError):
            return False
        logger.warning("relay step failed", extra={"step": self._name, "reason": str(exc)})
        if isinstance(exc, DependencyUnavailable):
            count(Metric.RELAY_FAILED)
        self._report.failed.append(self._name)
        return True


def _observe(report: RelayReport) -> None:
    gauge(Metric.OUTBOX_WAITING, sum(depth.waiting for depth in report.depths))
    gauge(Metric.OUTBOX_DEAD, sum(depth.dead for depth in report.depths))
    gauge(Metric.OUTBOX_OLDEST, max((depth.oldest_s for depth in report.depths if depth.queue.is_urgent), default=0.0))
    if report.index_lag is not None:
        gauge(Metric.INDEX_LAG, report.index_lag)


def _log(report: RelayReport) -> None:
    logger.info(
        "relay ran",
        extra={
            "embedded": report.embedded,
            "again": report.again,
            "lost": report.lost,
            "due": report.due,
            "published": report.published,
            "pruned": report.pruned,
            "index_lag": report.index_lag,
            "failed": report.failed,
            **{f"{depth.queue.value}_waiting": depth.waiting for depth in report.depths},
            **{f"{depth.queue.value}_dead": depth.dead for depth in report.depths},
        },
    )
