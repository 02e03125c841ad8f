"""How language models are called: twice at most, each time within the time that the caller gives an attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from skillroute.core.errors import ClassifierUnavailable, DependencyUnavailable
from skillroute.core.remote import calls
from skillroute.core.remote.calls import Deadline, TransientFailure, fan_out

T = TypeVar("T")

MAX_ANSWER_TOKENS = 1024
"""Where an answer is cut. Three assignments, a suggestion and their reasons take about 300."""


class _CallDeadline(Deadline):
    callee: ClassVar[str] = "the language model"
    error: ClassVar[type[DependencyUnavailable]] = ClassifierUnavailable


class _AttemptDeadline(Deadline):
    callee: ClassVar[str] = "the language model"
    error: ClassVar[type[DependencyUnavailable]] = TransientFailure
    thread_name: ClassVar[str] = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy(calls.RetryPolicy):
    """One more attempt after a failure that may pass, and soon, or not at all (skill-contract BR-002).

    Whoever classifies in the background gets the message again later; until then nobody should pay for waiting.
    """

    attempts: int = 2
    base_s: float = 0.5
    cap_s: float = 2.0
    patience_s: float = 3.0

    deadline_type: ClassVar[type[Deadline]] = _CallDeadline

    def ask(self, request: Callable[[Deadline], T], *, timeout_s: float) -> T:
        """Make a request, and once more when it failed in a way that may pass; `timeout_s` is for each of the two.

        An attempt is over at its deadline whatever the server does: timeouts of sockets begin anew with every byte.

        Raises
        ------
        ClassifierUnavailable
            The last attempt's failure, and why there was no further one.
        """

        def attempt() -> T:
            deadline = _AttemptDeadline(timeout_s, self.clock)
            [answer] = fan_out(request, [deadline], workers=1, deadline=deadline)
            return answer

        return self.run(attempt, self.deadline(self.attempts * (timeout_s + self.patience_s)))


DEFAULT_RETRY = RetryPolicy()
