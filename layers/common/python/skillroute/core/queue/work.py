"""Work that is done behind a queue. A slice declares its queues in its `queues.py`; the core names none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Self

from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Session

Names = Callable[[Session, Sequence[str]], Mapping[str, str]]
"""Returns the names by which people know work, by key; keys that have no other name are left out."""


class WorkQueue(str):
    """A queue, by its name.

    Attributes
    ----------
    place : int
        Among all queues, which are shown in this order.
    holds : str
        What its work is about, in what commands print.
    field : str
        The one field of its messages.
    key_of : callable
        Returns the key of a field's value; raises `InvalidInput` for any that no message has.
    value_of : callable
        Returns the field's value for a key.
    names : Names
    failed_metric : Metric or None
        Counts work of it that failed, in addition to what is counted of every queue.
    is_urgent : bool
        Whether the relay measures how old its work becomes; not where no caller waits for it.
    """

    place: int
    holds: str
    field: str
    key_of: Callable[[object], str]
    value_of: Callable[[str], object]
    names: Names
    failed_metric: Metric | None
    is_urgent: bool

    def __new__(
        cls,
        name: str,
        *,
        place: int,
        holds: str,
        field: str,
        key_of: Callable[[object], str],
        value_of: Callable[[str], object] = str,
        names: Names = lambda session, keys: {},
        failed_metric: Metric | None = None,
        is_urgent: bool = True,
    ) -> Self:
        queue = super().__new__(cls, name)
        queue.place, queue.holds, queue.field = place, holds, field
        queue.key_of, queue.value_of = key_of, value_of
        queue.names, queue.failed_metric, queue.is_urgent = names, failed_metric, is_urgent
        return queue

    @property
    def value(self) -> str:
        """The name, as plain text."""
        return str(self)

    def __reduce__(self) -> tuple[Callable[[str], WorkQueue], tuple[str]]:
        return queue_named, (str(self),)


@cache
def queues() -> tuple[WorkQueue, ...]:
    """Return all queues, in their order, as the `queues.py` of the slices declare them."""
    found: list[WorkQueue] = []
    for folder in files("skillroute").iterdir():
        if folder.is_dir() and folder.joinpath("queues.py").is_file():
            found += import_module(f"skillroute.{folder.name}.queues").QUEUES
    if len({queue.place for queue in found}) < len(found):
        raise ValueError("two queues have the same place")
    return tuple(sorted(found, key=lambda queue: queue.place))


@cache
def _by_name() -> dict[str, WorkQueue]:
    return {str(queue): queue for queue in queues()}


def queue_named(name: str) -> WorkQueue:
    """Return the queue of a name. Raises `KeyError` where none is declared."""
    return _by_name()[name]


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work that waits.

    Attributes
    ----------
    key : str
        As its queue names it.
    version : int
        Grows with every change that made the work necessary.
    """

    queue: WorkQueue
    key: str
    version: int


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A piece of work as it stands in the outbox, to be published.

    Attributes
    ----------
    org_id : str or None
        The organisation whose work it is; None for what is global.
    """

    queue: WorkQueue
    key: str
    org_id: str | None
