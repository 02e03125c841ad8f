"""Revisions that servers speak, and sessions with them, remembered for some minutes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from skillroute.calling.model import Endpoint
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.time.clock import Clock

MAX_SESSIONS = 1_000
MAX_AGE_S = 600.0

Key = tuple[str, str, str]
Paths = dict[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Spoken:
    """Revision and session of a server with one caller.

    Attributes
    ----------
    revision : str
    session_id : str or None
        Of revisions with a handshake, where the server keeps sessions.
    param_headers : dict
        By tool, which arguments are repeated in which headers; known only of tools that were refused without.
    """

    revision: str
    session_id: str | None = None
    param_headers: dict[str, Paths] = field(default_factory=dict)


def key_of(endpoint: Endpoint, credentials: Credentials) -> Key:
    """Return what a session is kept by: callers of different credentials share none."""
    return endpoint.transport, endpoint.url, credentials.session_key


class Sessions:
    """Remembers what servers speak. Safe to share between threads and event loops: it holds no connection.

    Parameters
    ----------
    max_sessions : int
        The session that was not used for longest is forgotten.
    max_age_s : float
        Since the handshake: a server that speaks a newer revision meanwhile is noticed.
    """

    def __init__(
        self, max_sessions: int = MAX_SESSIONS, max_age_s: float = MAX_AGE_S, clock: Clock = time.monotonic
    ) -> None:
        self._max_sessions = max_sessions
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, tuple[Spoken, float]] = OrderedDict()

    def get(self, key: Key) -> Spoken | None:
        """Return what is remembered, None where that is nothing or too old."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if self._clock() - found[1] > self._max_age_s:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key, spoken: Spoken) -> None:
        """Remember it."""
        with self._lock:
            self._kept[key] = spoken, self._clock()
            self._kept.move_to_end(key)
            while len(self._kept) > self._max_sessions:
                self._kept.popitem(last=False)

    def drop(self, key: Key, spoken: Spoken) -> None:
        """Forget it, unless another call has made a new session meanwhile."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0] is spoken:
                del self._kept[key]

    def __len__(self) -> int:
        """Return how many are remembered."""
        return len(self._kept)
