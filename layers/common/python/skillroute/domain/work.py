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
