"""The queues in memory: a double for tests that behaves as SQS does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from skillroute.core.errors.model import QueueUnavailable
from skillroute.core.queue.port import DeadLetter, QueueDepth
from skillroute.core.queue.sqs import dead_letter
from skillroute.core.queue.work import WorkQueue, queues
from skillroute.core.time.clock import Clock


@dataclass
class Message:
    """A message of `MemoryQueue`.

    Attributes
    ----------
    visible_at : float
        When it can be received, by the queue's clock.
    group : str or None
        Whose it is. It makes no difference here: messages are received in the order in which they came.
    receives : int
        How often it was received.
    """

    id: str
    body: str
    visible_at: float
    since: datetime
    group: str | None = None
    receives: int = 0


class MemoryQueue:
    """`ports.Queue` in this process, with what a consumer needs. It passes the tests of `SqsQueue`.

    Parameters
    ----------
    max_receives : int
        A message that was received this often goes to the dead-letter queue instead.
    visibility_timeout_s : float
        How long a received message is hidden before it shows itself again.

    Attributes
    ----------
    down : bool
        Everything raises `QueueUnavailable`.
    """

    def __init__(
        self, *, max_receives: int = 5, visibility_timeout_s: float = 180.0, clock: Clock = time.monotonic
    ) -> None:
        self.down = False
        self._max_receives = max_receives
        self._visibility_timeout_s = visibility_timeout_s
        self._clock = clock
        self._lock = threading.Lock()
        self._ids = count(1)
        self._messages: dict[WorkQueue, dict[str, Message]] = {name: {} for name in queues()}
        self._dead: dict[WorkQueue, dict[str, Message]] = {name: {} for name in queues()}

    def send(
        self,
        queue: WorkQueue,
        bodies: Sequence[Mapping[str, Any]],
        *,
        groups: Sequence[str | None] | None = None,
        delay_s: int = 0,
    ) -> None:
        for body, group in zip(bodies, groups or [None] * len(bodies), strict=True):
            self.send_text(queue, json.dumps(body), group=group, delay_s=delay_s)

    def depths(self) -> list[QueueDepth]:
        self._check()
        with self._lock:
            return [self._depth(name) for name in sorted(queues())]

    def dead_letters(self, queue: WorkQueue, *, limit: int) -> list[DeadLetter]:
        self._check()
        with self._lock:
            messages = list(self._dead[queue].values())[:limit]
        return [dead_letter(queue, message.id, message.body, message.since) for message in messages]

    def redrive(self, queue: WorkQueue, keys: Collection[str] | None) -> list[str]:
        moved = []
        for letter in self.dead_letters(queue, limit=len(self._dead[queue])):
            if letter.key is not None and (keys is None or letter.key in keys):
                self.send_text(queue, letter.body, group=self._dead[queue][letter.message_id].group)
                self.drop(queue, [letter.message_id])
                moved.append(letter.key)
        return moved

    def drop(self, queue: WorkQueue, message_ids: Collection[str]) -> int:
        self._check()
        with self._lock:
            return sum(self._dead[queue].pop(id_, None) is not None for id_ in message_ids)

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def send_text(self, queue: WorkQueue, body: str, *, group: str | None = None, delay_s: float = 0) -> None:
        """Send a message with any body, as another sender might."""
        self._check()
        with self._lock:
            message = Message(str(next(self._ids)), body, self._clock() + delay_s, datetime.now(UTC), group)
            self._messages[queue][message.id] = message

    def receive(self, queue: WorkQueue, limit: int = 10) -> list[Message]:
        """Receive messages; they are hidden from others until they are deleted or their time is up."""
        self._check()
        with self._lock:
            received: list[Message] = []
            for message in list(self._messages[queue].values()):
                if message.visible_at > self._clock() or len(received) == limit:
                    continue
                if message.receives >= self._max_receives:
                    self._dead[queue][message.id] = self._messages[queue].pop(message.id)
                    continue
                message.receives += 1
                message.visible_at = self._clock() + self._visibility_timeout_s
                received.append(message)
            return received

    def delete(self, queue: WorkQueue, message_id: str) -> None:
        """Delete a message that was received and done."""
        self._check()
        with self._lock:
            self._messages[queue].pop(message_id, None)

    def _depth(self, queue: WorkQueue) -> QueueDepth:
        now = self._clock()
        hidden = [message for message in self._messages[queue].values() if message.visible_at > now]
        under_way = sum(message.receives > 0 for message in hidden)
        ready = len(self._messages[queue]) - len(hidden)
        return QueueDepth(queue, ready, under_way, len(hidden) - under_way, len(self._dead[queue]))

    def _check(self) -> None:
        if self.down:
            raise QueueUnavailable("the queue is down")
