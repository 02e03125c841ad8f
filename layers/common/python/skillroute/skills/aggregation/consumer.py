"""The aggregate queue: skills, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.queue.consumer import Consumer, consumer, one_by_one, unexpected
from skillroute.core.queue.failed_work import FailedWork
from skillroute.skills.model import SkillKey
from skillroute.skills.queues import AGGREGATE


def aggregate_consumer(
    aggregate: Callable[[SkillKey], object], failed_work: FailedWork, dispatch: Callable[[], object]
) -> Consumer:
    """Return the consumer of the aggregate queue.

    `dispatch` is called once after each batch: a skill that changed while it was aggregated waits without a message.
    """

    def attempt(key: str) -> str | None:
        try:
            aggregate(SkillKey(key))
        except DependencyUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 (logged; the message comes again and is given up at last)
            return unexpected(error, [key])
        return None

    def work(keys: Sequence[str], context: Any) -> Mapping[str, str]:
        return one_by_one(keys, context, attempt)

    return consumer(AGGREGATE, work, failed_work, afterwards=dispatch)
