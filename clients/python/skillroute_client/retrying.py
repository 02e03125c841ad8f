"""When a call is tried again, and after which pause."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum


class Repeat(Enum):
    """The retries that a call allows."""

    ALWAYS = "always"
    """A second attempt does no harm: what reads, and what writes a whole thing."""
    IF_REFUSED = "if_refused"
    """Only when it is certain that nothing was done: what creates, and changes of a version."""
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Exponential backoff with full jitter.

    The pause before attempt n + 1 is uniform in [0, min(`cap_s`, `base_s` * 2 ** (n - 1))], so that callers who failed
    together do not come back together. What the server asks for in ``Retry-After`` is added to it.

    Parameters
    ----------
    attempts : int
        How often something is tried at most, the first time included; 1 never tries again.
    base_s, cap_s : float
        The widest first pause and the widest pause at all, in seconds.
    patience_s : float
        A server that asks for a longer pause, in seconds, is not asked again.
    connect_attempts : int or None
        Instead of `attempts` as long as nothing has ever answered this client: a server that restarts comes back, one
        that was never there does not.
    uniform : callable
        Draws a number between two; replaced in tests.
    """

    attempts: int = 4
    base_s: float = 0.25
    cap_s: float = 8.0
    patience_s: float = 30.0
    connect_attempts: int | None = None
    uniform: Callable[[float, float], float] = random.uniform

    def pause_s(self, attempt: int, retry_after_s: float | None = None, *, has_answered: bool = True) -> float | None:
        """Return the pause after an attempt that failed, in seconds; None when there is to be no other one."""
        asked = retry_after_s or 0.0
        attempts = self.attempts if has_answered or self.connect_attempts is None else self.connect_attempts
        if attempt >= attempts or asked > self.patience_s:
            return None
        return asked + self.uniform(0.0, min(self.cap_s, self.base_s * 2.0 ** (attempt - 1)))


def retry_after_s(header: str | None) -> float | None:
    """Read a ``Retry-After`` header, seconds or a date (RFC 9110 section 10.2.3); None when there is none to read."""
    if not header:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
