"""The queues of the skill service, as its use cases see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from skillroute.core.queue.work import WorkQueue


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Messages of a queue: ready, under way or delayed; and those in its dead-letter queue."""

    queue: WorkQueue
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
        When it was sent, where the queue says so.
    """

    queue: WorkQueue
    message_id: str
    body: str
    key: str | None
    problem: str | None
    since: datetime | None


class Queue(Protocol):
    """The queues. Every method raises `QueueUnavailable`."""

    def send(
        self,
        queue: WorkQueue,
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

    def dead_letters(self, queue: WorkQueue, *, limit: int) -> list[DeadLetter]:
        """Return up to `limit` messages of a dead-letter queue, oldest first; they stay there."""
        ...

    def redrive(self, queue: WorkQueue, keys: Collection[str] | None) -> list[str]:
        """Move dead letters back to their queue and return whose they were.

        None stands for all that can be read. A crash in between may double a message; it never loses one.
        """
        ...

    def drop(self, queue: WorkQueue, message_ids: Collection[str]) -> int:
        """Delete messages from the dead-letter queue and return how many were there."""
        ...

    def close(self) -> None:
        """Let go of connections. The next call opens new ones."""
        ...
