"""Calls that are made again: where the server asks for it, or was away for a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import skillroute_client as api
from skillroute.core.retry import Retry, TransientFailure

T = TypeVar("T")

PATIENT = Retry(attempts=8, base_s=0.5, cap_s=10.0, patience_s=120.0)
"""Of what takes long anyway: a server that restarts is away for some seconds. Half a minute on average, in all."""

AGAIN = frozenset({429, 502, 503, 504})
"""The statuses of which another attempt may be better: too many requests, and gateways and servers that are away."""


_AFTER_ALL = frozenset({502, 504})
"""Statuses of gateways, behind which the work may have been done."""


class Repeated:
    """Counts attempts whose answer was lost, beside repeating them.

    The client package repeats calls as well, but neither says which nor knows whether a server ever answered: it must
    not be told to, or attempts are multiplied.

    Parameters
    ----------
    retry : Retry

    Attributes
    ----------
    lost : int
        How often a call was made again whose first attempt may have done its work.
    """

    def __init__(self, retry: Retry = PATIENT) -> None:
        self.retry = retry
        self.lost = 0
        self._has_answered = False

    def run(self, call: Callable[[], T]) -> T:
        """Return what a call of the client package returns, or raise what its last attempt raised.

        A server that never answered is not there, which waiting does not change; one that did may come back.
        """

        def attempt() -> T:
            try:
                result = call()
            except api.ApiError as error:
                self._has_answered = True
                if error.status not in AGAIN:
                    raise
                self.lost += error.status in _AFTER_ALL
                raise _MayPass(error, _retry_after_s(error)) from error
            except api.Unreachable as error:
                if not self._has_answered:
                    raise
                self.lost += 1
                raise _MayPass(error) from error
            self._has_answered = True
            return result

        try:
            return self.retry.run(attempt)
        except _MayPass as last:
            raise last.error from last.error.__cause__


def _retry_after_s(error: api.ApiError) -> float | None:
    return error.retry_after_s if isinstance(error, api.RateLimited | api.Unavailable) else None


class _MayPass(TransientFailure):
    def __init__(self, error: api.SkillrouteError, retry_after_s: float | None = None) -> None:
        super().__init__(str(error), retry_after_s=retry_after_s)
        self.error = error
