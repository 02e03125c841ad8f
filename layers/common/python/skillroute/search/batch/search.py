"""Several searches in one call: the index is brought up to date once, and all queries are embedded together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from skillroute.core.answer_size import SEARCH_BYTES, on_the_way
from skillroute.core.caller import Caller
from skillroute.core.documents.index.ahead import forget
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index_lease import IndexLease
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import IndexUnavailable, SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.rationing.turns import Turns
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import at_most_s
from skillroute.core.time.timing import Stopwatch
from skillroute.search.answer.mcp_format import in_format
from skillroute.search.model import SearchMetadata, SearchRequest
from skillroute.search.search import ToolSearch

MAX_SEARCHES = 20
"""Of one batch."""

_MAX_WAIT_S = 20.0
"""That a batch takes where no invocation says less: after that, what was not reached is sent back."""

_KEPT_BYTES = 100_000
"""Kept free for each search that is still to come: 50 usual tools without their schemas take fewer."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a search, as JSON, and its metadata."""

    body: bytes
    metadata: SearchMetadata


@dataclass(frozen=True, slots=True)
class NotReached:
    """A search that there was no time or no room left for."""

    lacked: Literal["time", "room"]


BatchResult = Answered | NotReached | SkillrouteError
"""The outcome of one search."""


class BatchSearch:
    """Answers several searches.

    Parameters
    ----------
    search : ToolSearch
    replica : LendsIndex
    most_s : float
        The most seconds that a batch takes.
    room : int
        The most bytes that the answers have together on the way.
    turns : Turns, optional
        Where the model is in the process: a heavy batch has its texts embedded one by one, on one core, in turn.
    """

    def __init__(
        self,
        search: ToolSearch,
        replica: LendsIndex,
        *,
        most_s: float = _MAX_WAIT_S,
        room: int = SEARCH_BYTES,
        turns: Turns | None = None,
    ) -> None:
        self._search = search
        self._replica = replica
        self._most_s = most_s
        self._room = room
        self._turns = turns

    def __call__(
        self, requests: Sequence[SearchRequest | SkillrouteError], caller: Caller, watch: Stopwatch
    ) -> list[BatchResult]:
        """Return what became of each request, in order; one that could not be read is its own result.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached, before the first search.
        """
        deadline = Deadline(at_most_s(self._most_s))
        stale: list[bool] = []
        try:
            with IndexLease(self._replica, watch, lambda: stale.append(True)) as index:
                with watch.stage("query_embedding"):
                    there = [request for request in requests if isinstance(request, SearchRequest)]
                    self._search.embed_ahead(there, index, self._turns)
                return self._each(requests, caller, _Lent(index, is_stale=bool(stale)), deadline)
        except IndexUnavailable as error:
            return self._each(requests, caller, _Lent(error), deadline)

    def _each(
        self,
        requests: Sequence[SearchRequest | SkillrouteError],
        caller: Caller,
        lent: _Lent,
        deadline: Deadline,
    ) -> list[BatchResult]:
        results: list[BatchResult] = []
        left, slowest_s = self._room, 0.0
        for number, request in enumerate(requests):
            if isinstance(request, SkillrouteError):
                results.append(request)
                continue
            before_s = deadline.remaining_s()
            if before_s <= slowest_s:
                results.append(NotReached("time"))
                continue
            result = self._one(request, caller, lent, left - _KEPT_BYTES * (len(requests) - number - 1))
            slowest_s = max(slowest_s, before_s - deadline.remaining_s())
            size = on_the_way(result.body) if isinstance(result, Answered) else 0
            results.append(result if size <= left else NotReached("room"))
            left -= size if size <= left else 0
        return results

    def _one(self, request: SearchRequest, caller: Caller, lent: _Lent, room: int) -> Answered | SkillrouteError:
        try:
            answer = self._search.search(request, caller, lent=lent, taken=SEARCH_BYTES - room)
        except SkillrouteError as error:
            if error.code is ErrorCode.INTERNAL_ERROR:
                logger.exception("search of a batch failed")
            return error
        shown = in_format(request, answer)
        return Answered(shown.__pydantic_serializer__.to_json(shown), answer.metadata)


class _Lent:
    """Lends what was lent already, or fails as lending it has failed."""

    def __init__(self, lent: LentIndex | IndexUnavailable, *, is_stale: bool = False) -> None:
        self._lent = lent
        self._is_stale = is_stale

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        if isinstance(self._lent, IndexUnavailable):
            raise self._lent
        if self._is_stale:
            on_stale()
        forget(self._lent)
        yield self._lent
