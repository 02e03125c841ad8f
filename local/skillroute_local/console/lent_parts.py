"""Parts that the console reaches without the API, with the rights of the person who started it: database and queues."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from skillroute.wiring import Parts

T = TypeVar("T")

LendParts: TypeAlias = "Callable[[], AbstractContextManager[Parts]]"
"""Lends the parts of the Skillroute that the console asks. What they show is of all organisations."""


async def with_parts(lend: LendParts, work: Callable[[Parts], T]) -> T:
    """Return what some work does with the parts, in a thread: PostgreSQL and SQS are waited for there."""

    def run() -> T:
        with lend() as parts:
            return work(parts)

    return await asyncio.to_thread(run)
