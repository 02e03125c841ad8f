"""The live states in a process: read when an organisation first searches, and looked after every few seconds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database
from skillroute.core.time.clock import Clock
from skillroute.learning.states.model import LiveVersion
from skillroute.learning.states.repository import StateRepository

if TYPE_CHECKING:
    from skillroute.learning.states.matrix import RequestMatrix

LOOK_EVERY_S = 15.0
"""How long a process may go by a state that is no longer live, or without one that is."""

MAX_ORGS = 200
"""Organisations whose states a process remembers; the least recently used goes first."""


@dataclass(frozen=True, slots=True)
class _Known:
    versions: Sequence[LiveVersion]
    matrix: RequestMatrix | None
    looked_at: float


class LiveStates:
    """`Learned` over PostgreSQL.

    Parameters
    ----------
    look_every_s : float
        A search that comes later than this after the last look asks whether another state is live: one short query.
    """

    def __init__(
        self, database: Database, *, look_every_s: float = LOOK_EVERY_S, clock: Clock = time.monotonic
    ) -> None:
        self._database = database
        self._look_every_s = look_every_s
        self._clock = clock
        self._known: OrderedDict[tuple[str | None, str], _Known] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, caller: Caller, model: EmbeddingModel) -> RequestMatrix | None:
        """Return what searches of a caller go by.

        Raises
        ------
        DatabaseUnavailable
            It could not be read, and nothing is known from before.
        """
        place = caller.org_id, str(model)
        with self._lock:
            known = self._known.get(place)
        if known is None or self._clock() - known.looked_at >= self._look_every_s:
            known = self._looked(place, known)
            with self._lock:
                self._known[place] = known
                self._known.move_to_end(place)
                if len(self._known) > MAX_ORGS:
                    self._known.popitem(last=False)
        return known.matrix

    def _looked(self, place: tuple[str | None, str], known: _Known | None) -> _Known:
        now = self._clock()
        try:
            return self._database.read(lambda session: self._read(StateRepository(session), place, known, now))
        except DependencyUnavailable as error:
            if known is None:
                raise
            count(Metric.LEARNED_UNAVAILABLE)
            logger.warning("learned requests not looked after", extra={"reason": str(error)})
            return _Known(known.versions, known.matrix, now)

    def _read(self, states: StateRepository, place: tuple[str | None, str], known: _Known | None, now: float) -> _Known:
        versions = states.live(*place)
        if known is not None and versions == known.versions:
            return _Known(versions, known.matrix, now)
        if not versions:
            return _Known(versions, None, now)
        from skillroute.learning.states.matrix import RequestMatrix  # noqa: PLC0415 - numpy, where it is needed

        ids = [version.id for version in versions]
        rows, pairs = states.vectors(ids), states.pairs(ids)
        return _Known(versions, RequestMatrix(rows, pairs) if rows or pairs else None, now)
