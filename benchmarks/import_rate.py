"""Tools a second of an import into an empty Skillroute, and where its processor time goes.

Two ways in: `PUT /api/v1/tools` in calls of 500, one after the other, and the command `skillroute import FILE`. Of
each: tools a second, and milliseconds of processor time that a tool takes of the server, of PostgreSQL and of the
client. `cores` is their sum by wall clock: on two cores, what is missing to 2 was not used. The server has loaded the
model before the clock starts.

With `--beside` the same is done with another checkout of this repository, which has an environment `.venv` of its own;
the two take turns, so that other work on the machine falls on both alike. Processor time of the fastest round is
compared rather than wall clock where the machine is busy.

    python benchmarks/import_rate.py --data DATA --beside ../skillroute-main --json results/import_rate.json
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpus import Corpus
from cost_meter import Meter
from harness import (
    ROOT,
    Server,
    arguments,
    child_environment,
    fresh_database,
    print_table,
    progress,
    save,
    serving,
)

_BATCH = 500
_WAYS = ("PUT", "skillroute import")

Row = dict[str, Any]


class Stopwatch:
    """Wall clock, and processor time of the server, of PostgreSQL and of the client, from now on."""

    def __init__(self, server: Server, meter: Meter) -> None:
        self._server, self._meter = server, meter
        self._before = self._now()

    def row(self, tools: int) -> Row:
        """Return what was measured, per tool."""
        wall_s, *cpu_s = (now - before for now, before in zip(self._now(), self._before, strict=True))
        server_ms, postgres_ms, client_ms = (round(1000.0 * of / tools, 2) for of in cpu_s)
        return {
            "tools/s": round(tools / wall_s, 1),
            "server_ms": server_ms,
            "postgres_ms": postgres_ms,
            "client_ms": client_ms,
            "cpu_ms": round(1000.0 * sum(cpu_s) / tools, 2),
            "cores": round(sum(cpu_s) / wall_s, 2),
        }

    def _now(self) -> tuple[float, float, float, float]:
        own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        client = sum(usage.ru_utime + usage.ru_stime for usage in (own, ended))
        return time.perf_counter(), self._server.cpu_s(), self._meter.database_s(), client


def measure(checkout: Path, way: str, items: Sequence[Row]) -> Row:
    """Import items into a fresh database with the code of a checkout."""
    with fresh_database() as url, serving(url, checkout=checkout) as server:
        server.request("PUT", "/api/v1/tools", {"items": [{"name": "loads_the_model"}, {"name": "on_each_thread"}]})
        if way == "PUT":
            watch = Stopwatch(server, Meter(url))
            for start in range(0, len(items), _BATCH):
                answer = server.request("PUT", "/api/v1/tools", {"items": items[start : start + _BATCH]})
                _require(not answer["degraded"] and not answer["failed"], answer)
            return watch.row(len(items))
        with _file(items) as file:
            watch = Stopwatch(server, Meter(url))
            skillroute, url_here = str(checkout / ".venv/bin/skillroute"), f"http://127.0.0.1:{server.port}"
            command = [skillroute, "import", str(file), "--url", url_here]
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=child_environment(url))
            _require(done.returncode == 0, done.stdout + done.stderr)
            return watch.row(len(items))


@contextmanager
def _file(items: Sequence[Row]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.jsonl"
        file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
        yield file


def _require(is_true: bool, found: object) -> None:
    if not is_true:
        sys.exit(f"the import did not store everything: {str(found)[:2000]}")


def compare(checkouts: dict[str, Path], ways: Sequence[str], items: Sequence[Row], rounds: int) -> list[Row]:
    """Let checkouts take turns, way by way; return the round of each that took the least processor time."""
    rows = []
    with progress() as bar:
        task = bar.add_task("importing", total=len(ways) * rounds * len(checkouts))
        for way in ways:
            measured: dict[str, list[Row]] = {name: [] for name in checkouts}
            for _ in range(rounds):
                for name, checkout in checkouts.items():
                    measured[name].append(measure(checkout, way, items))
                    bar.advance(task)
            for name, found in measured.items():
                rates = [row["tools/s"] for row in found]
                best = min(found, key=lambda row: row["cpu_ms"])
                rows.append({"way": way, "code": name, **best, "tools/s": max(rates), "slowest": min(rates)})
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=2000, help="tools to import (default: 2000)")
    parser.add_argument("--rounds", type=int, default=3, help="imports of each kind (default: 3)")
    parser.add_argument("--ways", choices=_WAYS, nargs="+", default=list(_WAYS))
    parser.add_argument("--data", type=Path, help="real tools to begin with, see corpus.py")
    parser.add_argument("--beside", type=Path, action="append", default=[], help="another checkout, with its .venv")
    args = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    checkouts = {"this": ROOT} | {path.name: path.resolve() for path in args.beside}
    rows = compare(checkouts, args.ways, [corpus.item(number) for number in range(args.tools)], args.rounds)
    print_table(f"Import of {args.tools} tools", rows)
    save(args, "import_rate", {"tools": args.tools, "rows": rows})


if __name__ == "__main__":
    main()
