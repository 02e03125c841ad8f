"""Plans of calls to good and bad servers, and what came of them: what `calls.py` counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.standing.call_servers import BAD, GOOD

Row = dict[str, Any]

_NONCE = re.compile(r"nonce-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call."""

    kind: str
    nonce: str
    took_s: float
    is_error: bool
    text: str

    @property
    def is_right(self) -> bool:
        """Whether a good server answered with the nonce, or the answer says that a bad one did not."""
        if self.kind in GOOD:
            return not self.is_error and self.nonce in self.text
        return self.is_error

    @property
    def strangers(self) -> int:
        """How many nonces of other calls it has."""
        return len(set(_NONCE.findall(self.text)) - {self.nonce})


def planned(count: int, seed: int) -> list[tuple[str, str]]:
    """Return kind and nonce of each call, mixed: a fifth to good servers, half of these with a handshake."""
    chance = Random(seed)
    kinds = [name for number in range(count) for name in [("good", *BAD)[number % 5]]]
    kinds = ["handshake" if kind == "good" and number % 10 else kind for number, kind in enumerate(kinds)]
    chance.shuffle(kinds)
    return [(kind, f"nonce-{chance.getrandbits(128):032x}") for kind in kinds]


def summed(
    answers: Sequence[Answer], limit_s: float, percentiles: Callable[[Sequence[float]], dict[str, float]]
) -> list[Row]:
    """Return a row for each kind of server, and one of all."""
    kinds = Counter(answer.kind for answer in answers)
    rows = []
    for kind in [*kinds, "all"]:
        of_kind = [answer for answer in answers if kind in (answer.kind, "all")]
        rows.append(
            {
                "server": kind,
                "calls": len(of_kind),
                "right": sum(answer.is_right for answer in of_kind),
                "strangers": sum(answer.strangers for answer in of_kind),
                "ms": percentiles([1000.0 * answer.took_s for answer in of_kind]),
                "over the limit, ms": round(max(0.0, 1000.0 * (max(a.took_s for a in of_kind) - limit_s)), 1),
            }
        )
    return rows
