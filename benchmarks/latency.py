"""Latency and throughput of searches: over HTTP on loopback, and through the Lambda handler.

Each figure is of five results with schemas out of a made-up corpus. "distinct" queries are all different, so each is
embedded; "repeated" are 50 in turn, so embeddings and schemas come from the caches. The client loads the server in a
closed loop from a process of its own; PostgreSQL, server and client share the machine's cores. "server" is
total_time_ms of the answers' metadata; "whole" is what the client waits, queueing included.

    python benchmarks/latency.py --tools 10000 --concurrency 1,8,32 --seconds 10 --json results/latency.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app_process import add_server_options, server_options
from corpus import Corpus, Filler
from harness import (
    HERE,
    SEARCH,
    Server,
    arguments,
    child_environment,
    console,
    drive,
    fresh_database,
    numbers,
    percentiles,
    print_table,
    progress,
    save,
    serving,
    words,
    write_requests,
)

_DISTINCT = 40_000  # more than any run sends
_REPEATED = 50
_STAGES = ("query_embedding", "skill_search", "tool_search", "schema_load", "index_sync", "total")

Row = dict[str, Any]


def write_events(file: Path, queries: Sequence[str], strategy: str) -> Path:
    """Write the bodies of searches, one a line."""
    lines = (json.dumps({"query": query, "strategy": strategy}) for query in queries)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def search_request(query: str, strategy: str) -> Row:
    """Return a search as `client.py` sends it."""
    return {"kind": "search", "method": "POST", "path": SEARCH, "body": {"query": query, "strategy": strategy}}


def load(server: Server, requests: Path, concurrency: int, seconds: float) -> Row:
    """Load the server with searches and return what came of it."""
    measured = drive(server, requests, concurrency, seconds)
    whole_ms = measured["whole_ms"].get("search", [])
    return {
        "answers": len(whole_ms),
        "errors": measured["errors"],
        "searches/s": round(len(whole_ms) / seconds, 1),
        "whole_ms": percentiles(whole_ms),
        "stages_ms": {stage: percentiles(measured["stages_ms"].get(stage, [])) for stage in _STAGES},
        "client_cpu_s": measured["client_cpu_s"],
        "server_cpu_s": measured["server_cpu_s"],
    }


def over_http(args: argparse.Namespace, url: str, queries: Sequence[str], folder: Path) -> list[Row]:
    """Measure each strategy with each kind of queries at each concurrency."""
    rows: list[Row] = []
    kinds = {"distinct": queries, "repeated": queries[:_REPEATED]}
    runs = [(s, kind, c) for s in args.strategies for kind in kinds for c in args.concurrency]
    with serving(url, *server_options(args)) as server, progress() as bar:
        server.wait_for_index()
        used = 0
        for strategy, kind, concurrency in bar.track(runs, description="HTTP"):
            chosen = kinds[kind]
            if kind == "distinct":  # each run has queries that no run before it had
                chosen = queries[used : used + _DISTINCT // len(runs)]
                used += len(chosen)
            lines = [[search_request(query, strategy)] for query in chosen]
            requests = write_requests(folder / "requests.jsonl", lines)
            measured = load(server, requests, concurrency, args.seconds)
            rows.append({"strategy": strategy, "queries": kind, "concurrency": concurrency, **measured})
    return rows


def through_lambda(args: argparse.Namespace, url: str, queries: Sequence[str], folder: Path) -> list[Row]:
    """Measure the handler, one event at a time, without a network."""
    rows = []
    for strategy in args.strategies:
        requests = write_events(folder / "events.jsonl", queries[-args.events :], strategy)
        done = subprocess.run(
            [sys.executable, str(HERE / "lambda_process.py"), str(requests)],
            check=True,
            capture_output=True,
            text=True,
            env=child_environment(url),
        )
        measured = json.loads(done.stdout.splitlines()[-1])  # before it come log lines
        row = {"strategy": strategy, "events": len(measured["warm_ms"])}
        rows.append(
            row | {"whole_ms": percentiles(measured["warm_ms"]), "server_ms": percentiles(measured["warm_server_ms"])}
        )
    return rows


def _cell(values: dict[str, float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values.values())


def _print(tools: int, http: list[Row], events: list[Row]) -> None:
    run = ("strategy", "queries", "concurrency")
    flat = [{name: _cell(value) if name == "whole_ms" else value for name, value in row.items()} for row in http]
    ends = [{name: value for name, value in row.items() if name != "stages_ms"} for row in flat]
    stages = [{name: row[name] for name in run} | {s: _cell(ms) for s, ms in row["stages_ms"].items()} for row in http]
    print_table(f"HTTP, {tools} tools; milliseconds as p50 / p95 / p99", ends)
    print_table("The same, stages on the server", stages)
    handled = [{name: _cell(value) if isinstance(value, dict) else value for name, value in r.items()} for r in events]
    print_table("Lambda handler; milliseconds as p50 / p95 / p99", handled)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="real tools to begin with, see corpus.py")
    parser.add_argument("--concurrency", type=numbers, default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=10.0, help="each run, after a second of warm-up")
    parser.add_argument("--strategies", type=words, default=["hierarchical", "direct"])
    parser.add_argument("--events", type=int, default=500, help="events for the Lambda handler")
    add_server_options(parser)
    args = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    queries = list(corpus.queries(_DISTINCT + args.events))
    with fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        filler = Filler(url, corpus)
        console.print(f"{args.tools} tools written in {filler.fill(args.tools):.1f} s")
        filler.close()
        http = over_http(args, url, queries, Path(folder))
        events = through_lambda(args, url, queries, Path(folder))
    _print(args.tools, http, events)
    save(args, "latency", {"tools": args.tools, "http": http, "lambda": events})


if __name__ == "__main__":
    main()
