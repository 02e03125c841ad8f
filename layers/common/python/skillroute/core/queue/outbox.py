"""The rows of mcp.outbox."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from skillroute.core.ports import Failure, OutboxDepth
from skillroute.core.postgres.connection import Connection
from skillroute.core.queue.work import OutboxEntry, QueueName, Work


class PostgresOutbox:
    """`ports.OutboxRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    def next_to_publish(self, *, most_in_flight: int, share: int, limit: int) -> list[OutboxEntry]:
        rows = self._run("next_to_publish", most_in_flight=most_in_flight, share=share, limit=limit)
        return [OutboxEntry(QueueName(queue), key, org_id or None) for queue, key, org_id in rows]

    def mark_published(self, entries: Sequence[OutboxEntry]) -> list[OutboxEntry]:
        rows = json.dumps([{"queue": entry.queue, "key": entry.key} for entry in entries])
        marked = {(queue, key) for queue, key in self._run("mark_published", rows=rows)}
        return [entry for entry in entries if (entry.queue, entry.key) in marked]

    def enqueue(self, queue: QueueName, keys: Sequence[str]) -> None:
        self._run("enqueue", queue=queue.value, keys=list(keys))

    def versions(self, queue: QueueName, keys: Sequence[str]) -> dict[str, int]:
        rows = self._run("waiting_work", queue=queue.value, keys=list(keys))
        return {row[0]: row[1] for row in rows}

    def waiting(self, queue: QueueName, limit: int) -> list[Work]:
        rows = self._run("all_waiting", queue=queue.value, limit=limit)
        return [Work(queue, key, version) for key, version in rows]

    def done(self, queue: QueueName, versions: Mapping[str, int]) -> None:
        rows = json.dumps([{"key": key, "version": version} for key, version in sorted(versions.items())])
        removed = self._run("remove_done", queue=queue.value, rows=rows)
        if len(removed) < len(versions):
            self._run("publish_again", queue=queue.value, rows=rows)

    def failed(
        self, queue: QueueName, reasons: Mapping[str, str], *, dead: Sequence[str], receives: Mapping[str, int]
    ) -> list[str]:
        rows = [
            {"key": key, "reason": reason, "is_last": key in dead, "receives": receives.get(key, 1)}
            for key, reason in sorted(reasons.items())
        ]
        noted = self._run("note_failures", queue=queue.value, rows=json.dumps(rows))
        return [key for key, is_spared in noted if is_spared]

    def failures(self, queue: QueueName, keys: Sequence[str]) -> list[Failure]:
        return [Failure(*row) for row in self._run("failures", queue=queue.value, keys=list(keys))]

    def dead(self, queue: QueueName, *, limit: int) -> list[Failure]:
        return [Failure(*row) for row in self._run("dead", queue=queue.value, limit=limit)]

    def publish_stale(self, *, older_than_s: float, most: int, limit: int) -> dict[QueueName, list[Failure]]:
        found: dict[QueueName, list[Failure]] = {}
        for queue, *failure in self._run("publish_stale", older_than_s=older_than_s, most=most, limit=limit):
            found.setdefault(QueueName(queue), []).append(Failure(*failure))
        return found

    def publish_all_again(self) -> int:
        return len(self._run("publish_all_again"))

    def revive(self, queue: QueueName, keys: Sequence[str] | None) -> list[str]:
        rows = self._run("revive_dead", queue=queue.value, keys=None if keys is None else list(keys))
        return [row[0] for row in rows]

    def depths(self) -> list[OutboxDepth]:
        return [
            OutboxDepth(QueueName(queue), waiting, dead, oldest_s)
            for queue, waiting, dead, oldest_s in self._run("outbox_depths")
        ]
