"""The classify queue: a batch of tools, classified together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.queue.consumer import Consumer, consumer, one_by_one, unexpected
from skillroute.core.queue.failed_work import FailedWork
from skillroute.skills.queues import CLASSIFY

Classify = Callable[[Sequence[int]], Mapping[int, object]]
"""`ClassifyTools`: what became of each tool; a `DependencyUnavailable` where the classifier failed."""


def classify_consumer(classify: Classify, failed_work: FailedWork) -> Consumer:
    """Return the consumer of the classify queue.

    When something that all need is away, all fail. An unexpected error may be one tool's doing: each is tried alone
    then, so that it does not take the others with it to the dead-letter queue.
    """

    def work(keys: Sequence[str], context: Any) -> Mapping[str, str]:
        try:
            return _failures(keys, classify([int(key) for key in keys]))
        except DependencyUnavailable as error:
            return dict.fromkeys(keys, str(error))
        except Exception as error:  # noqa: BLE001 (logged; the messages come again and are given up at last)
            reason = unexpected(error, keys)
            return {keys[0]: reason} if len(keys) == 1 else one_by_one(keys, context, alone)

    def alone(key: str) -> str | None:
        try:
            return _failures([key], classify([int(key)])).get(key)
        except DependencyUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 (see above)
            return unexpected(error, [key])

    return consumer(CLASSIFY, work, failed_work)


def _failures(keys: Sequence[str], results: Mapping[int, object]) -> dict[str, str]:
    reasons = {}
    for key in keys:
        result = results.get(int(key))
        if result is None:
            reasons[key] = "the classifier returned no result for it"
        elif isinstance(result, DependencyUnavailable):
            reasons[key] = str(result)
    return reasons
