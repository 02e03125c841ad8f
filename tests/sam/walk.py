"""The scenario's steps through functions in containers, one after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.events import answer
from tests.scenario import Step

Call = Callable[[str, str], Any]
"""Takes the names of a function and of an event, and returns what the function answered."""


def walk(call: Call, steps: Sequence[Step], say: Callable[[str], None]) -> None:
    """Take every step, and check what comes of each."""
    for step in steps:
        began = time.monotonic()
        said = call(step.function, step.event)
        status, body = (None, said) if step.status is None else answer(said)
        say(f"{step.function:<10} {step.event:<36} {status or 'done'}  {time.monotonic() - began:.1f} s")
        assert status == step.status, f"{step.event}: {status} {body}"
        assert step.check(body), f"{step.event}: {json.dumps(body, indent=1)}"
