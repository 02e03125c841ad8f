"""How language models are called: twice at most, each time within the time that the caller gives an attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from skillroute.core.errors.model import ClassifierUnavailable
from skillroute.core.remote.calls import fan_out
from skillroute.core.time.deadline import Callee, Deadline
from skillroute.core.time.retry import Retry, TransientFailure

T = TypeVar("T")

MAX_ANSWER_TOKENS = 1024
"""Where an answer is cut. Three assignments, a suggestion and their reasons take about 300."""

_CALL = Callee("the language model", ClassifierUnavailable)
_ATTEMPT = Callee("the language model", TransientFailure, thread_name="chat")

CHAT_RETRY = Retry(attempts=2, base_s=0.5, cap_s=2.0, patience_s=3.0)
"""One more attempt after a failure that may pass, and soon, or not at all (skill-contract BR-002).

Work in the background gets its message again later; until then nobody should pay for waiting.
"""


def ask(request: Callable[[Deadline], T], retry: Retry, *, timeout_s: float) -> T:
    """Make a request, and once more when it failed in a way that may pass; `timeout_s` is for each of the two.

    An attempt is over at its deadline whatever the server does: timeouts of sockets begin again with every byte.

    Raises
    ------
    ClassifierUnavailable
        The last attempt's failure, and why there was no further one.
    """

    def attempt() -> T:
        deadline = Deadline(timeout_s, retry.clock, callee=_ATTEMPT)
        [answer] = fan_out(request, [deadline], workers=1, deadline=deadline)
        return answer

    in_all_s = retry.attempts * (timeout_s + retry.patience_s)
    return retry.run(attempt, deadline=Deadline(in_all_s, retry.clock, callee=_CALL))
