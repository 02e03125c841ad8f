"""The learn queue: organisations, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.queue.consumer import Consumer, consumer, one_by_one, unexpected
from skillroute.core.queue.failed_work import FailedWork
from skillroute.learning.queues import LEARN


def learn_consumer(
    run: Callable[[str], object], failed_work: FailedWork, dispatch: Callable[[], object] = lambda: None
) -> Consumer:
    """Return the consumer of the learn queue.

    `dispatch` is called once after each batch: what was queued meanwhile for one of its organisations has no message.
    """

    def attempt(key: str) -> str | None:
        try:
            run(key)
        except DependencyUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 (logged; the message comes again and is given up at last)
            return unexpected(error, [key])
        return None

    def work(keys: Sequence[str], context: Any) -> Mapping[str, str]:
        return one_by_one(keys, context, attempt)

    return consumer(LEARN, work, failed_work, afterwards=dispatch)
