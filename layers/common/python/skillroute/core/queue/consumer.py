"""A batch of SQS messages as Lambda delivers it, and the answer that says which of them failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillroute.core.errors.model import InvalidInput
from skillroute.core.observability import logger
from skillroute.core.queue.failed_work import FailedWork
from skillroute.core.queue.messages import key_of
from skillroute.core.queue.work import WorkQueue
from skillroute.core.time.time_left import ending_with, left_ms

Consumer = Callable[[Mapping[str, Any], Any], dict[str, Any]]
"""Takes Lambda's event and context."""

_RESERVE_MS = 10_000
"""Nothing is begun with less time left: what the clock cuts off is neither noted nor answered."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message that is no work, and why."""

    message_id: str
    reason: str
    receives: int


@dataclass(frozen=True, slots=True)
class Batch:
    """The work of a batch, each piece once, however many messages ask for it.

    Attributes
    ----------
    message_ids : mapping of str to list of str
        The messages of each key, in the order of the batch.
    receives : mapping of str to int
        How often each key's message was received, this time included.
    """

    queue: WorkQueue
    message_ids: dict[str, list[str]] = field(default_factory=dict)
    receives: dict[str, int] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """The work to be done."""
        return list(self.message_ids)

    @classmethod
    def read(cls, queue: WorkQueue, event: Mapping[str, Any]) -> Batch:
        """Read an event of Lambda's; a message that cannot be read does not keep the others."""
        batch = cls(queue)
        for record in event["Records"]:
            message_id = record["messageId"]
            receives = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
            try:
                key = key_of(queue, record["body"])
            except InvalidInput as error:
                batch.unreadable.append(Unreadable(message_id, str(error), receives))
                continue
            batch.message_ids.setdefault(key, []).append(message_id)
            batch.receives[key] = max(receives, batch.receives.get(key, 1))
        return batch

    def answer(self, failed: Iterable[str]) -> dict[str, Any]:
        """Return Lambda's answer: the messages that must come again. All others are deleted."""
        message_ids = [message.message_id for message in self.unreadable]
        for key in failed:
            message_ids += self.message_ids[key]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in message_ids]}


def consumer(
    queue: WorkQueue,
    work: Callable[[Sequence[str], Any], Mapping[str, str]],
    failed_work: FailedWork,
    *,
    afterwards: Callable[[], object] = lambda: None,
) -> Consumer:
    """Return a consumer of a queue.

    Parameters
    ----------
    work : callable
        Does the work of these keys, and returns why which of them failed; gets Lambda's context too. It does not raise.
    afterwards : callable
        Called at the end of every batch that had work in it.
    """

    def consume(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        with ending_with(context):
            return consume_in_time(event, context)

    def consume_in_time(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        batch = Batch.read(queue, event)
        for message in batch.unreadable:
            failed_work.unreadable(queue, message.message_id, message.reason, message.receives)
        reasons: Mapping[str, str] = {}
        if batch.keys:
            reasons = work(batch.keys, context)
            failed_work(queue, reasons, batch.receives)
            afterwards()
        logger.info(
            "batch done",
            extra={
                "queue": queue.value,
                "done": len(batch.keys) - len(reasons),
                "failed": len(reasons),
                "unreadable": len(batch.unreadable),
            },
        )
        return batch.answer(reasons)

    return consume


def is_late(context: Any) -> bool:
    """Return whether too little time is left of the invocation to begin something; never where it is not known."""
    left = left_ms(context)
    return left is not None and left < _RESERVE_MS


def one_by_one(keys: Sequence[str], context: Any, attempt: Callable[[str], str | None]) -> dict[str, str]:
    """Do work piece by piece, and return why which failed; what there is no time for comes again."""
    reasons: dict[str, str] = {}
    for key in keys:
        reason = "not begun: the time of the batch was up" if is_late(context) else attempt(key)
        if reason is not None:
            reasons[key] = reason
    return reasons


def unexpected(error: Exception, keys: Sequence[str]) -> str:
    """Log an unexpected error, with its traceback, and return the reason to be noted."""
    logger.exception("work failed unexpectedly", extra={"keys": list(keys)})
    return f"{type(error).__name__}: {error}"
