"""The live states in a process: read when an organisation first searches, and looked after every few seconds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakValueDictionary

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database
from skillroute.core.time.clock import Clock
from skillroute.learning.states.model import LiveVersion
from skillroute.learning.states.repository import StateRepository
from skillroute.search.learned import LearnedRequests

if TYPE_CHECKING:
    from skillroute.learning.states.matrix import RequestMatrix

LOOK_EVERY_S = 15.0
"""How long a process may go by a state that is no longer live, or without one that is."""

MAX_ORGS = 200
"""Organisations whose states a process remembers; the least recently used goes first."""

MAX_BYTES = 256 * 1024 * 1024
"""Of all states that a process remembers; the organisation that was least recently used goes first.

The state of one organisation takes some 26 MB at most (`MAX_EVIDENCE`, three searches a request).
"""

V = TypeVar("V")
_Place = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class _Known:
    versions: Sequence[LiveVersion]
    matrices: Sequence[RequestMatrix]
    learned: LearnedRequests | None
    looked_at: float


class _Once(Generic[V]):
    """Lets one thread do what several need at the same time; the others wait for its result, or its failure."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[V]] = {}
        self._lock = threading.Lock()

    def __call__(self, key: Hashable, work: Callable[[], V], *, meanwhile: V | None = None) -> V:
        """Return the result of the work; where another thread is at it, what there is meanwhile, if that is given."""
        with self._lock:
            running = self._running.get(key)
            mine = running or Future[V]()
            self._running[key] = mine
        if running is not None:
            return running.result() if meanwhile is None else meanwhile
        try:
            mine.set_result(work())
        except BaseException as error:  # noqa: BLE001 - those who wait must not wait forever
            mine.set_exception(error)
        finally:
            with self._lock:
                del self._running[key]
        return mine.result()


class LiveStates:
    """`Learned` over PostgreSQL.

    Parameters
    ----------
    look_every_s : float
        A search that comes later than this after the last look asks whether another state is live: one short query.
        Searches that come while it asks do not wait; those that come while nothing is known wait for one reading.
    """

    def __init__(
        self, database: Database, *, look_every_s: float = LOOK_EVERY_S, clock: Clock = time.monotonic
    ) -> None:
        self._database = database
        self._look_every_s = look_every_s
        self._clock = clock
        self._known: OrderedDict[_Place, _Known] = OrderedDict()
        # By id and revision, as long as they are known of an organisation: the global one is that of many.
        self._matrices: WeakValueDictionary[tuple[int, int], RequestMatrix] = WeakValueDictionary()
        self._lock = threading.Lock()
        self._look_once = _Once[_Known]()
        self._load_once = _Once["RequestMatrix"]()

    def of(self, caller: Caller, model: EmbeddingModel) -> LearnedRequests | None:
        """Return what searches of a caller go by.

        Raises
        ------
        DatabaseUnavailable
            It could not be read, and nothing is known from before.
        """
        place = caller.org_id, str(model)
        with self._lock:
            known = self._known.get(place)
            if known is not None:
                self._known.move_to_end(place)
        if known is None or self._clock() - known.looked_at >= self._look_every_s:
            known = self._look_once(place, lambda: self._looked(place, known), meanwhile=known)
        return known.learned

    def _looked(self, place: _Place, known: _Known | None) -> _Known:
        now = self._clock()
        try:
            found = self._database.read(lambda session: self._read(StateRepository(session), place, known, now))
        except DependencyUnavailable as error:
            if known is None:
                raise
            count(Metric.LEARNED_UNAVAILABLE)
            logger.warning("learned requests not looked after", extra={"reason": str(error)})
            found = replace(known, looked_at=now)
        self._remember(place, found)
        return found

    def _remember(self, place: _Place, found: _Known) -> None:
        with self._lock:
            self._known[place] = found
            self._known.move_to_end(place)
            while len(self._known) > 1 and (len(self._known) > MAX_ORGS or self._bytes() > MAX_BYTES):
                self._known.popitem(last=False)

    def _bytes(self) -> int:
        matrices = {id(matrix): matrix for known in self._known.values() for matrix in known.matrices}
        return sum(matrix.n_bytes for matrix in matrices.values())

    def _read(self, states: StateRepository, place: _Place, known: _Known | None, now: float) -> _Known:
        versions = states.live(*place)
        if known is not None and versions == known.versions:
            return replace(known, looked_at=now)
        if not versions:
            return _Known(versions, [], None, now)
        from skillroute.learning.states.matrix import OwnBeforeGlobal  # noqa: PLC0415 - numpy, where it is needed

        matrices = [matrix for version in versions if (matrix := self._matrix(states, version)).n_bytes]
        learned = OwnBeforeGlobal(*matrices) if len(matrices) > 1 else next(iter(matrices), None)
        return _Known(versions, matrices, learned, now)

    def _matrix(self, states: StateRepository, version: LiveVersion) -> RequestMatrix:
        from skillroute.learning.states.matrix import RequestMatrix  # noqa: PLC0415 - numpy, where it is needed

        key = version.id, version.revision

        def load() -> RequestMatrix:
            with self._lock:
                found = self._matrices.get(key)
            if found is None:
                found = RequestMatrix(states.vectors([version.id]), states.pairs([version.id]))
                with self._lock:
                    self._matrices[key] = found
            return found

        return self._load_once(key, load)
