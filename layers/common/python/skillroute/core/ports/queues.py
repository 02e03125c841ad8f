"""Queues, the outbox that feeds them, and where people are told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from skillroute.core.queue.work import OutboxEntry, QueueName, Work


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

    queue: QueueName
    waiting: int
    dead: int
    oldest_s: float


class OutboxRepository(Protocol):
    """Work that waits, one row for each tool or skill. Triggers write it; see migration 0003."""

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
        ...

    def mark_published(self, entries: Sequence[OutboxEntry]) -> list[OutboxEntry]:
        """Mark those that have no message yet, and return them; what another publisher has locked is left to it."""
        ...

    def enqueue(self, queue: QueueName, keys: Sequence[str]) -> None: ...

    def versions(self, queue: QueueName, keys: Sequence[str]) -> dict[str, int]:
        """Return the versions of what waits, to be told to `done` later."""
        ...

    def waiting(self, queue: QueueName, limit: int) -> list[Work]:
        """Return work of a queue by key, whether it has a message or not."""
        ...

    def done(self, queue: QueueName, versions: Mapping[str, int]) -> None:
        """Remove work that was done as of these versions; what changed since is published again."""
        ...

    def failed(
        self, queue: QueueName, reasons: Mapping[str, str], *, dead: Sequence[str], receives: Mapping[str, int]
    ) -> list[str]:
        """Note why work failed; for the keys in `dead` it was the last receive of their message.

        Those are given up, unless they changed since the message was sent: then they get another one, and are returned.
        """
        ...

    def failures(self, queue: QueueName, keys: Sequence[str]) -> list[Failure]: ...

    def dead(self, queue: QueueName, *, limit: int) -> list[Failure]:
        """Return work that was given up, the longest first."""
        ...

    def publish_stale(self, *, older_than_s: float, most: int, limit: int) -> dict[QueueName, list[Failure]]:
        """Let work be published again whose message should long have been done, oldest first.

        Each time counts as an attempt; after `most` of them the work is given up, and its `dead_at` says so.
        """
        ...

    def publish_all_again(self) -> int:
        """Let all work be published again that is not given up, as the queues are new; return how much."""
        ...

    def revive(self, queue: QueueName, keys: Sequence[str] | None) -> list[str]:
        """Let given-up work be published again; None stands for all of it."""
        ...

    def depths(self) -> list[OutboxDepth]: ...


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Messages of a queue: ready, under way or delayed; and those in its dead-letter queue."""

    queue: QueueName
    ready: int
    under_way: int
    delayed: int
    dead: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was received too often and lies in the dead-letter queue.

    Attributes
    ----------
    key : str or None
        The tool or skill that it is about; None when its body cannot be read.
    problem : str or None
        Why its body cannot be read.
    since : datetime or None
        When it was sent, where the queue tells.
    """

    queue: QueueName
    message_id: str
    body: str
    key: str | None
    problem: str | None
    since: datetime | None


class Queue(Protocol):
    """The two queues. Every method raises `QueueUnavailable`."""

    def send(
        self,
        queue: QueueName,
        bodies: Sequence[Mapping[str, Any]],
        *,
        groups: Sequence[str | None] | None = None,
        delay_s: int = 0,
    ) -> None:
        """Send messages, each a JSON object; they are received after `delay_s` seconds at the earliest.

        `groups` names the group of each message, so that many messages of one do not delay the few of another. A queue
        that knows no groups carries them all the same.
        """
        ...

    def depths(self) -> list[QueueDepth]: ...

    def dead_letters(self, queue: QueueName, *, limit: int) -> list[DeadLetter]:
        """Return up to `limit` messages of a dead-letter queue, oldest first; they stay there."""
        ...

    def redrive(self, queue: QueueName, keys: Collection[str] | None) -> list[str]:
        """Move dead letters back to their queue and return whose they were.

        None stands for all that can be read. A crash in between may double a message; it never loses one.
        """
        ...

    def drop(self, queue: QueueName, message_ids: Collection[str]) -> int:
        """Delete messages from the dead-letter queue and return how many were there."""
        ...

    def close(self) -> None:
        """Let go of connections. The next call opens new ones."""
        ...


class Notifier(Protocol):
    """Tells people that something waits for them."""

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        """Publish an event. It never raises: who cannot be told finds the same in the API and in the log.

        Parameters
        ----------
        event : str
            ``suggestion_created``, ``skill_auto_approved``, ``message_dead_lettered``.
        subject : str
            One line for people.
        details : mapping
            What a person needs to act: ids, names, reasons, and the route or command.
        """
        ...
