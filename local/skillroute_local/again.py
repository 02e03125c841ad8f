"""Calls that are made again: where the server asks for it, or was away for a moment."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from skillroute.core.retry import Retry, TransientFailure

from skillroute_local.errors import Unreachable

AT_ONCE = Retry(attempts=1)
"""A command that answers a person does not wait: what went wrong is said at once."""

PATIENT = Retry(attempts=8, base_s=0.5, cap_s=10.0, patience_s=120.0)
"""Of what takes long anyway: a server that restarts is away for some seconds. Half a minute on average, in all."""

AGAIN = frozenset({429, 502, 503, 504})
"""The statuses of which another attempt may be better: too many requests, and gateways and servers that are away."""


class MayPass(TransientFailure, Unreachable):
    """A call that failed in a way that another one may not."""


def retry_after_s(response: httpx.Response) -> float | None:
    """Return how long a server asks to be left alone, in seconds; None where it does not say, or names a date."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


class Repeated:
    """Counts attempts whose answer was lost, beside repeating them.

    Parameters
    ----------
    retry : Retry

    Attributes
    ----------
    lost : int
        How often a call was made again whose first attempt may have done its work.
    """

    def __init__(self, retry: Retry = AT_ONCE) -> None:
        self.retry = retry
        self.lost = 0
        self._has_answered = False

    def run(
        self, request: Callable[[], httpx.Response], unreachable: Callable[[httpx.HTTPError], str]
    ) -> httpx.Response:
        """Return the last answer. Raises `Unreachable` where there is none.

        A server that never answered is not there, which waiting does not change; one that did may come back.
        """

        def attempt() -> httpx.Response:
            try:
                response = request()
            except httpx.HTTPError as error:
                if not self._has_answered:
                    raise Unreachable(unreachable(error)) from error
                self.lost += 1
                raise MayPass(unreachable(error)) from error
            self._has_answered = True
            if response.status_code in AGAIN:
                raise _Refused(response)
            return response

        try:
            return self.retry.run(attempt)
        except _Refused as refused:
            return refused.response


class _Refused(TransientFailure):
    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"{response.status_code}", retry_after_s=retry_after_s(response))
        self.response = response
