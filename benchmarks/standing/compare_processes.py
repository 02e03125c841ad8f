"""The processes that `compare.py` asks: one a peer, one for each encoder of ours; peers/answering.py has what they say.

All are asked in turn, query by query, so that whatever else the machine does falls on all of them alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

Json = dict[str, Any]
ENCODERS = ("all-minilm-l6-v2", "tool-minilm-l6")
_SHORT = {"all-minilm-l6-v2": "", "tool-minilm-l6": " (tuned)"}
# One thread each: what is compared is the work, not the cores.
_ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is compared: a column of the tables.

    Attributes
    ----------
    name : str
        Its heading.
    process, asked_as : str
        Who is asked, and for what.
    """

    name: str
    process: str
    asked_as: str


def methods(encoders: Sequence[str]) -> list[Method]:
    """Return what is compared with the given encoders; what needs no encoder is once in the list."""
    listed = [
        Method("BM25", "plain", "bm25"),
        Method("MiniLM", "plain", "cosine"),
        Method("RRF", "plain", "rrf"),
        Method("FastMCP", "fastmcp_search", "fastmcp"),
    ]
    for encoder in encoders:
        short = _SHORT[encoder]
        listed.append(Method(f"langgraph-bigtool{short}", "bigtool", encoder))
        ours = ["semantic", "hybrid"] if short else ["semantic", "lexical", "hybrid"]
        listed += [
            Method(f"{mode}{direct}{short}", encoder, f"{strategy} {mode}")
            for mode in ours
            for strategy, direct in (("hierarchical", ""), ("direct", " direct"))
        ]
    return listed


class Asked:
    """A process that answers queries."""

    def __init__(self, name: str, command: Sequence[str], given: Json, log: Path) -> None:
        self._name = name
        self._log = log
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("SKILLROUTE_")}
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=inherited | _ONE_THREAD
            )
        self._send(given)

    def wait_until_loaded(self) -> dict[str, str]:
        """Return the versions of what answers."""
        versions: dict[str, str] = self._receive()["versions"]
        return versions

    def ask(self, method: str, query: str) -> Json:
        """Return the ids that a method finds, and its milliseconds."""
        self._send({"method": method, "query": query})
        return self._receive()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _send(self, line: Json) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(self._why()) from None

    def _receive(self) -> Json:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(self._why())
        answer: Json = json.loads(line)
        return answer

    def _why(self) -> str:
        last = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        return f"{self._name} ended: {' '.join(last) or 'it printed nothing'}; all of it is in {self._log}"


@contextmanager
def started(
    wanted: Sequence[Method], python: Path, corpus: Json, ours: Json, encoders: Mapping[str, str], logs: Path
) -> Iterator[dict[str, Asked]]:
    """Start what the methods need, load the corpus into all of them, and end them afterwards.

    Parameters
    ----------
    python : Path
        Of the environment that the peers are installed in.
    corpus : JSON object
        What the peers are given: `tools`.
    ours : JSON object
        What this project's processes are given, but for the encoder.
    encoders : mapping of name to folder
    """
    with ExitStack() as stack:
        processes: dict[str, Asked] = {}
        for name in dict.fromkeys(method.process for method in wanted):
            if name in encoders:
                command, given = [sys.executable, "-m", "benchmarks.standing.compare_ours"], ours | {"encoder": name}
            else:
                command, given = [str(python), str(HERE / "peers" / f"{name}.py")], corpus | {"encoders": encoders}
            processes[name] = asked = Asked(name, command, given, logs / f"{name}.log")
            stack.callback(asked.close)
        yield processes
