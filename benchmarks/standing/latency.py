"""Latency and throughput of searches: over HTTP on loopback, and through the Lambda handler.

Each figure is of five results with schemas out of a made-up corpus. "distinct" queries are all different, so each is
embedded; "repeated" are 50 in turn, so embeddings and schemas come from the caches. The client loads the server in a
closed loop from a process of its own; PostgreSQL, server and client share the machine's cores. "server" is
total_time_ms of the answers' metadata; "whole" is what the client waits, queueing included; "cpu_ms" is the processor
time of the server for a search, which a busy machine lengthens least.

Each strategy is asked in each of `--modes`; `hybrid_rerank` is one with `--reranker`, the folder of a model in the form
that `training/build_reranker.py` writes. What its weights are does not change the time.

    python -m benchmarks.standing.latency --tools 10000 --concurrency 1,8,32 --seconds 10 --json results/latency.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import (
    SEARCH,
    STANDING,
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
from benchmarks.standing.app_process import add_server_options, server_options

_DISTINCT = 40_000  # more than any run sends
_REPEATED = 50
_STAGES = ("query_embedding", "skill_search", "tool_search", "rerank", "schema_load", "index_sync", "total")
MODES = ("semantic", "hybrid")

Row = dict[str, Any]


def write_events(file: Path, queries: Sequence[str], strategy: str, mode: str) -> Path:
    """Write the bodies of searches, one a line."""
    lines = (json.dumps(search_body(query, strategy, mode)) for query in queries)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def search_body(query: str, strategy: str, mode: str) -> Row:
    """Return the body of a search."""
    return {"query": query, "strategy": strategy, "mode": mode}


def search_request(query: str, strategy: str, mode: str) -> Row:
    """Return a search as `client.py` sends it."""
    return {"kind": "search", "method": "POST", "path": SEARCH, "body": search_body(query, strategy, mode)}


def require_mode(server: Server, query: str, strategy: str, mode: str) -> None:
    """See that a mode is served as what it is called, so that no other is measured. Raises `RuntimeError`."""
    answer = server.request("POST", SEARCH, search_body(query, strategy, mode))
    if (served := answer["metadata"]["search_mode"]) != mode:
        raise RuntimeError(f"{mode} was asked for, and {served} was served")


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
        # The warm-up second too: as many searches as in any other.
        "cpu_ms": round(1000.0 * measured["server_cpu_s"] * seconds / (seconds + 1.0) / max(1, len(whole_ms)), 2),
    }


def over_http(args: argparse.Namespace, url: str, queries: Sequence[str], folder: Path) -> list[Row]:
    """Measure each strategy in each mode with each kind of queries at each concurrency."""
    rows: list[Row] = []
    kinds = {"distinct": queries, "repeated": queries[:_REPEATED]}
    runs = list(product(args.strategies, args.modes, kinds, args.concurrency))
    with serving(url, *server_options(args), environment=_reranking(args)) as server, progress() as bar:
        server.wait_for_index()
        used = 0
        for strategy, mode, kind, concurrency in bar.track(runs, description="HTTP"):
            chosen = kinds[kind]
            if kind == "distinct":  # each run has queries that no run before it had
                chosen = queries[used : used + _DISTINCT // len(runs)]
                used += len(chosen)
            require_mode(server, chosen[0], strategy, mode)
            lines = [[search_request(query, strategy, mode)] for query in chosen]
            requests = write_requests(folder / "requests.jsonl", lines)
            measured = load(server, requests, concurrency, args.seconds)
            run = {"strategy": strategy, "mode": mode, "queries": kind, "concurrency": concurrency}
            rows.append(run | measured)
    return rows


def _reranking(args: argparse.Namespace) -> dict[str, str]:
    if args.reranker is None:
        return {}
    return {"SKILLROUTE_RERANK_PROVIDER": "onnx", "SKILLROUTE_RERANK_MODEL_DIR": str(args.reranker.resolve())}


def through_lambda(args: argparse.Namespace, url: str, queries: Sequence[str], folder: Path) -> list[Row]:
    """Measure the handler, one event at a time, without a network."""
    rows = []
    for strategy, mode in product(args.strategies, args.modes):
        requests = write_events(folder / "events.jsonl", queries[-args.events :], strategy, mode)
        done = subprocess.run(
            [sys.executable, str(STANDING / "lambda_process.py"), str(requests)],
            check=True,
            capture_output=True,
            text=True,
            env=child_environment(url) | _reranking(args),
        )
        measured = json.loads(done.stdout.splitlines()[-1])  # before it come log lines
        row = {"strategy": strategy, "mode": mode, "events": len(measured["warm_ms"])}
        rows.append(
            row | {"whole_ms": percentiles(measured["warm_ms"]), "server_ms": percentiles(measured["warm_server_ms"])}
        )
    return rows


def _cell(values: dict[str, float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values.values())


def _print(tools: int, http: list[Row], events: list[Row]) -> None:
    run = ("strategy", "mode", "queries", "concurrency")
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
    parser.add_argument("--modes", type=words, default=list(MODES))
    parser.add_argument("--reranker", type=Path, help="folder of a model for the mode hybrid_rerank")
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
