"""The rows of mcp.outbox."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillroute.core.postgres.database import Session
from skillroute.core.queue.work import OutboxEntry, Work, WorkQueue, queue_named


@dataclass(frozen=True, slots=True)
class Failure:
    """Work that failed: how often, why the last time, and when it was given up."""

    key: str
    attempts: int
    last_error: str | None
    dead_at: datetime | None


@dataclass(frozen=True, slots=True)
class OutboxDepth:
    """How much waits for a queue.

    Attributes
    ----------
    waiting, dead : int
        Work to be done, and work that was given up.
    oldest_s : float
        Age of the oldest that waits, in seconds; 0 when nothing does.
    """

    queue: WorkQueue
    waiting: int
    dead: int
    oldest_s: float


class OutboxRepository:
    """Work that waits, one row for each tool, skill or organisation. Triggers write most of it; see migration 0003."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def next_to_publish(self, *, most_in_flight: int, share: int, limit: int) -> list[OutboxEntry]:
        """Return what to publish next, in this order, locking nothing (docs/adr/0028).

        Organisations with the least in flight come first, `share` entries at a time; within one the oldest first.

        Parameters
        ----------
        most_in_flight : int
            How much work of one organisation may be published in one queue and not done. Failed work counts a tenth.
        share : int
            The most of one organisation and queue in one answer.
        """
        rows = self._run("next_to_publish", most_in_flight=most_in_flight, share=share, limit=limit)
        return [OutboxEntry(queue_named(queue), key, org_id or None) for queue, key, org_id in rows]

    def mark_published(self, entries: Sequence[OutboxEntry]) -> list[OutboxEntry]:
        """Mark those that have no message yet, and return them; what another publisher has locked is left to it."""
        rows = json.dumps([{"queue": entry.queue, "key": entry.key} for entry in entries])
        marked = {(queue, key) for queue, key in self._run("mark_published", rows=rows)}
        return [entry for entry in entries if (entry.queue, entry.key) in marked]

    def enqueue(self, queue: WorkQueue, keys: Sequence[str]) -> None:
        self._run("enqueue", queue=queue.value, keys=list(keys))

    def versions(self, queue: WorkQueue, keys: Sequence[str]) -> dict[str, int]:
        """Return the versions of what waits, to be passed to `done` later."""
        rows = self._run("waiting_work", queue=queue.value, keys=list(keys))
        return {row[0]: row[1] for row in rows}

    def waiting(self, queue: WorkQueue, limit: int) -> list[Work]:
        """Return work of a queue by key, whether it has a message or not."""
        rows = self._run("all_waiting", queue=queue.value, limit=limit)
        return [Work(queue, key, version) for key, version in rows]

    def done(self, queue: WorkQueue, versions: Mapping[str, int]) -> None:
        """Remove work that was done as of these versions; what changed since is published again."""
        rows = json.dumps([{"key": key, "version": version} for key, version in sorted(versions.items())])
        removed = self._run("remove_done", queue=queue.value, rows=rows)
        if len(removed) < len(versions):
            self._run("publish_again", queue=queue.value, rows=rows)

    def failed(
        self, queue: WorkQueue, reasons: Mapping[str, str], *, dead: Sequence[str], receives: Mapping[str, int]
    ) -> list[str]:
        """Note why work failed; for the keys in `dead` it was the last receive of their message.

        Those are given up, unless they changed since the message was sent: then they get another one, and are returned.
        """
        rows = [
            {"key": key, "reason": reason, "is_last": key in dead, "receives": receives.get(key, 1)}
            for key, reason in sorted(reasons.items())
        ]
        noted = self._run("note_failures", queue=queue.value, rows=json.dumps(rows))
        return [key for key, is_spared in noted if is_spared]

    def failures(self, queue: WorkQueue, keys: Sequence[str]) -> list[Failure]:
        return [Failure(*row) for row in self._run("failures", queue=queue.value, keys=list(keys))]

    def dead(self, queue: WorkQueue, *, limit: int) -> list[Failure]:
        """Return work that was given up, the longest first."""
        return [Failure(*row) for row in self._run("dead", queue=queue.value, limit=limit)]

    def publish_stale(self, *, older_than_s: float, most: int, limit: int) -> dict[WorkQueue, list[Failure]]:
        """Let work be published again whose message should long have been done, oldest first.

        Each time counts as an attempt; after `most` of them the work is given up, and its `dead_at` says so.
        """
        found: dict[WorkQueue, list[Failure]] = {}
        for queue, *failure in self._run("publish_stale", older_than_s=older_than_s, most=most, limit=limit):
            found.setdefault(queue_named(queue), []).append(Failure(*failure))
        return found

    def publish_all_again(self) -> int:
        """Let all work be published again that is not given up, as the queues are new; return how much."""
        return len(self._run("publish_all_again"))

    def revive(self, queue: WorkQueue, keys: Sequence[str] | None) -> list[str]:
        """Let given-up work be published again; None stands for all of it."""
        rows = self._run("revive_dead", queue=queue.value, keys=None if keys is None else list(keys))
        return [row[0] for row in rows]

    def depths(self) -> list[OutboxDepth]:
        return [
            OutboxDepth(queue_named(queue), waiting, dead, oldest_s)
            for queue, waiting, dead, oldest_s in self._run("outbox_depths")
        ]
