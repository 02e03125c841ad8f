"""Work that is done behind a queue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class QueueName(StrEnum):
    """The two queues: tools to classify, and skills to aggregate."""

    CLASSIFY = "classify"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class Work:
    """A tool or skill that waits for something to be done with it.

    Attributes
    ----------
    key : str
        The tool's id, or the skill's key.
    version : int
        Grows with every change that made the work necessary.
    """

    queue: QueueName
    key: str
    version: int


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A piece of work as it stands in the outbox, to be published.

    Attributes
    ----------
    org_id : str or None
        The organisation whose tool or skill it is; None for a global one.
    """

    queue: QueueName
    key: str
    org_id: str | None
