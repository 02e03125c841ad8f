"""Work that failed: it is noted, tried again by the queue, and at last given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.input.encodable import encodable
from skillroute.core.notification.port import Notifier
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import Failure, OutboxRepository
from skillroute.core.queue.work import WorkQueue

MAX_RECEIVES = 5
"""How often a queue hands a message out before it goes to the dead-letter queue; the queues are made with the same."""

_MAX_REASON_LENGTH = 500


class FailedWork:
    """Notes failures in the outbox, and notifies people of what was given up. It never raises.

    Parameters
    ----------
    max_receives : int
        The queue's ``maxReceiveCount``: work that fails at this receive will not come again by itself.
    """

    def __init__(self, database: Database, notifier: Notifier, *, max_receives: int = MAX_RECEIVES) -> None:
        self._database = database
        self._notifier = notifier
        self.max_receives = max_receives

    def __call__(self, queue: WorkQueue, reasons: Mapping[str, str], receives: Mapping[str, int]) -> None:
        """Note why work failed.

        Parameters
        ----------
        reasons : mapping of str to str
            By key.
        receives : mapping of str to int
            How often the message of each key was received, this time included.
        """
        if not reasons:
            return
        reasons = {key: _storable(reason) for key, reason in reasons.items()}
        dead = sorted(key for key in reasons if receives.get(key, 1) >= self.max_receives)
        names, spared = self._note(queue, reasons, dead, receives)
        for key, reason in sorted(reasons.items()):
            details = {"queue": queue.value, "key": key, "attempts": receives.get(key, 1), "reason": reason}
            if key in dead and key not in spared:
                self._give_up(details | {"tool_name": names.get(key)}, f"skillroute dlq redrive {queue} {quote(key)}")
            else:
                logger.warning("work failed and is tried again", extra=details)
        if queue.failed_metric:
            count(queue.failed_metric, len(reasons))

    def given_up(self, queue: WorkQueue, failures: Sequence[Failure]) -> None:
        """Notify people of work that was given up without a consumer's word: its receiver was killed each time."""
        if not failures:
            return
        names: Mapping[str, str] = {}
        try:
            keys = [failure.key for failure in failures]
            names = self._database.read(lambda session: queue.names(session, keys))
        except SkillrouteError as error:
            logger.warning("names not read", extra={"queue": queue.value, "reason": str(error)})
        for failure in failures:
            details = {
                "queue": queue.value,
                "key": failure.key,
                "attempts": failure.attempts,
                "reason": failure.last_error,
            }
            self._give_up(
                details | {"tool_name": names.get(failure.key)}, f"skillroute dlq redrive {queue} {quote(failure.key)}"
            )

    def unreadable(self, queue: WorkQueue, message_id: str, reason: str, receives: int) -> None:
        """Note a message that cannot be read, so that are unknown whose work it is."""
        details = {"queue": queue.value, "message_id": message_id, "attempts": receives, "reason": _storable(reason)}
        if receives >= self.max_receives:
            self._give_up(details, f"skillroute dlq drop {queue}")
        else:
            logger.error("message cannot be read", extra=details)

    def _note(
        self, queue: WorkQueue, reasons: Mapping[str, str], dead: Sequence[str], receives: Mapping[str, int]
    ) -> tuple[Mapping[str, str], list[str]]:
        """Write the outbox; return the names of the work in `dead`, as far as they are known, and who is spared."""

        def note(session: Session) -> tuple[Mapping[str, str], list[str]]:
            session.note_news()  # what has failed makes room for other work of its organisation (docs/adr/0028)
            spared = OutboxRepository(session).failed(queue, reasons, dead=dead, receives=receives)
            return queue.names(session, dead), spared

        try:
            return self._database.transact(note)
        except SkillrouteError as error:
            # The message comes back all the same; only its reason is lost.
            logger.warning("failures not noted", extra={"queue": queue.value, "reason": str(error)})
            return {}, []

    def _give_up(self, details: Mapping[str, Any], command: str) -> None:
        count(Metric.MESSAGES_GIVEN_UP)
        logger.error("work given up", extra=dict(details))
        named = details.get("tool_name") or details.get("key") or details.get("message_id")
        self._notifier.notify(
            "message_dead_lettered",
            f"Skillroute: {details['queue']} gave up {named} after {details['attempts']} attempts",
            {**details, "to_do": f"remove the cause, then run `{command}`"},
        )


def _storable(reason: str) -> str:
    """Shorten a reason; PostgreSQL stores no NUL, and an error may carry what others wrote."""
    return encodable(reason.replace("\0", ""))[:_MAX_REASON_LENGTH] or "no reason given"
