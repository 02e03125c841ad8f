"""How a peer's process is asked: lines of JSON on its input, a line of JSON for each on its output.

The first line describes what to load (`tools`, each with `id`, `name`, `description`, `server` and `input_schema`, and
whatever else the process takes); the answer has its versions. Each line after it asks one method one query, and is
answered with the ids found, best first, and the milliseconds that took. Nothing here needs more than Python.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

Json = dict[str, Any]
Search = Callable[[str], Sequence[str]]

LIMIT = 5
"""How many tools every method is asked for."""


def serve(load: Callable[[Json], Mapping[str, Search]], packages: Sequence[str] = ()) -> None:
    """Answer until the input ends.

    Parameters
    ----------
    load : callable
        Takes the first line, returns the searches by their methods' names.
    packages : sequence of str
        Whose versions are reported.
    """
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    searches = load(json.loads(sys.stdin.readline()))
    _answer(answers, {"versions": {name: version(name) for name in packages}})
    for line in sys.stdin:
        asked = json.loads(line)
        search, query = searches[asked["method"]], asked["query"]
        before, cpu_before = time.perf_counter(), time.process_time()
        found = list(search(query))
        ms, cpu_ms = (time.perf_counter() - before) * 1e3, (time.process_time() - cpu_before) * 1e3
        _answer(answers, {"ids": found[:LIMIT], "ms": round(ms, 3), "cpu_ms": round(cpu_ms, 3)})


def _answer(answers: Any, answer: Json) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
