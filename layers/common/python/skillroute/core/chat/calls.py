"""How language models are called: twice at most, each time within the time that the caller gives an attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from skillroute.core.deadline import Callee, Deadline
from skillroute.core.errors import ClassifierUnavailable
from skillroute.core.remote import calls
from skillroute.core.remote.calls import TransientFailure, fan_out

T = TypeVar("T")

MAX_ANSWER_TOKENS = 1024
"""Where an answer is cut. Three assignments, a suggestion and their reasons take about 300."""


_CALL = Callee("the language model", ClassifierUnavailable)
_ATTEMPT = Callee("the language model", TransientFailure, thread_name="chat")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy(calls.RetryPolicy):
    """One more attempt after a failure that may pass, and soon, or not at all (skill-contract BR-002).

    Whoever classifies in the background gets the message again later; until then nobody should pay for waiting.
    """

    attempts: int = 2
    base_s: float = 0.5
    cap_s: float = 2.0
    patience_s: float = 3.0

    def ask(self, request: Callable[[Deadline], T], *, timeout_s: float) -> T:
        """Make a request, and once more when it failed in a way that may pass; `timeout_s` is for each of the two.

        An attempt is over at its deadline whatever the server does: timeouts of sockets begin anew with every byte.

        Raises
        ------
        ClassifierUnavailable
            The last attempt's failure, and why there was no further one.
        """

        def attempt() -> T:
            deadline = Deadline(timeout_s, self.clock, callee=_ATTEMPT)
            [answer] = fan_out(request, [deadline], workers=1, deadline=deadline)
            return answer

        in_all_s = self.attempts * (timeout_s + self.patience_s)
        return self.run(attempt, Deadline(in_all_s, self.clock, callee=_CALL))


DEFAULT_RETRY = RetryPolicy()
