"""A plain caller's searches beside a hostile caller's batches, over HTTP against what `make run` serves.

The plain caller asks one search after the other, each another one, with default fields. The hostile one, of another
organisation, sends the heaviest batches that are taken, of searches or over MCP in turn, again as soon as it has its
answer. Both have tokens, since without them a laptop knows no callers. First the plain one is alone, then both are
there, `--rounds` times; "beside" over "alone" at p95 is to be 2 at most. Answers that refuse (429, 422) are counted.

    python benchmarks/beside.py --tools 10000 --seconds 10 --json results/beside.json
    python benchmarks/beside.py --checkout ../other
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus import Corpus, Filler
from harness import (
    HERE,
    ROOT,
    SEARCH,
    Server,
    arguments,
    console,
    drive,
    fresh_database,
    percentiles,
    print_table,
    save,
    serving,
    write_requests,
)
from skillroute.core.caller import Scope
from skillroute_local.tokens import LOCAL_AUDIENCE, LOCAL_ISSUER, TokenForm, TokenKey

_QUERIES = 20_000

Json = dict[str, Any]


def long_queries(corpus: Corpus) -> Iterator[str]:
    """Return requests of as many clauses as one may have, none twice."""
    words = itertools.cycle(corpus.queries(_QUERIES))
    for number in itertools.count():  # a clause that came before would be remembered
        yield f"{number}: " + ", ".join(f"{next(words)} {number}" for _ in range(20))[:900]


def heavy_search(query: str) -> Json:
    """Return the heaviest search that there is."""
    heaviest = {"strategy": "hybrid", "limit": 50, "skill_limit": 10, "explain": True, "collapse_duplicates": True}
    return {"query": query, **heaviest}


def heavy_call(number: int, query: str) -> Json:
    """Return the heaviest call over MCP."""
    asked = {"query": query, "limit": 50, "detail": "full", "budget_tokens": 20_000}
    params = {"name": "search_tools", "arguments": asked}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def request(kind: str, path: str, body: object, token: str) -> Json:
    """Return a request as `client.py` sends it."""
    headers = {"authorization": f"Bearer {token}"}
    return {"kind": kind, "method": "POST", "path": path, "body": body, "headers": headers}


def attack(queries: Iterator[str], token: str, searches: int, calls: int) -> list[Json]:
    """Return a batch of searches, then one of calls."""
    batch = {"searches": [heavy_search(next(queries)) for _ in range(searches)]}
    rpc = [heavy_call(number, next(queries)) for number in range(calls)]
    sent = [(searches, "batch", f"{SEARCH}/batch", batch), (calls, "mcp", "/mcp", rpc)]
    return [request(kind, path, body, token) for size, kind, path, body in sent if size]


def client(server: Server, requests: Path, seconds: float) -> subprocess.Popen[str]:
    """Start the hostile caller."""
    command = [sys.executable, "-S", str(HERE / "client.py"), str(server.port), "1", str(seconds), str(requests)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measured(server: Server, plain: Path, hostile: Path | None, seconds: float) -> Json:
    """Return how long the plain searches took, and what became of the batches."""
    other = None if hostile is None else client(server, hostile, seconds + 1)
    found = drive(server, plain, 1, seconds)
    answers: Json = {} if other is None else json_of(other)
    return {
        "whole_ms": found["whole_ms"].get("search", []),
        "errors": found["errors"],
        "cpu_s": found["server_cpu_s"],
        "batches": Counter(answers.get("statuses", {})),
    }


def json_of(process: subprocess.Popen[str]) -> Json:
    """Return what a client printed."""
    found: Json = json.loads(process.communicate()[0])
    return found


def rows_of(runs: Sequence[tuple[str, Json]]) -> list[Json]:
    """Return a row for each side, of all its rounds together."""
    rows = []
    for side in ("alone", "beside"):
        own = [run for name, run in runs if name == side]
        times = percentiles([ms for run in own for ms in run["whole_ms"]])
        statuses: Counter[str] = sum((run["batches"] for run in own), Counter())
        told = ", ".join(f"{count} of {status}" for status, count in sorted(statuses.items()))
        row = {"side": side, "searches": sum(len(run["whole_ms"]) for run in own), **times}
        rows.append(row | {"errors": sum(run["errors"] for run in own), "batches": told})
    return rows


def compared(args: argparse.Namespace, url: str) -> list[Json]:
    """Measure both sides in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key = TokenKey(folder / "key.pem")
        plain, hostile = (
            key.sign(TokenForm(), [Scope.SEARCH], org=org, subject=f"agent of {org}", expires_in_s=3600)
            for org in ("plain", "hostile")
        )
        queries = Corpus(args.seed + 1, None).queries(_QUERIES)
        searches = [[request("search", SEARCH, {"query": query}, plain)] for query in queries]
        heavy = long_queries(Corpus(args.seed + 2, None))
        batches = [attack(heavy, hostile, args.searches, args.calls) for _ in range(200)]
        files = [write_requests(folder / "batches.jsonl", batches)]
        environment = {
            "SKILLROUTE_AUTH": "jwt",
            "SKILLROUTE_JWT_ISSUER": LOCAL_ISSUER,
            "SKILLROUTE_JWT_AUDIENCE": LOCAL_AUDIENCE,
            "SKILLROUTE_JWT_KEYS": key.key_set(),
            "SKILLROUTE_JWT_REQUIRE_ORG": "false",
        }
        runs: list[tuple[str, Json]] = []
        interval = ["--switch-interval-ms", str(args.switch_interval_ms)]
        with serving(url, *interval, environment=environment, checkout=args.checkout.resolve()) as server:
            _wait_for_index(server, plain)
            share = len(searches) // (2 * args.rounds)  # each run has queries that no run before it had
            for number in range(2 * args.rounds):
                file = write_requests(folder / "plain.jsonl", searches[number * share : (number + 1) * share])
                side, other = ("beside", files[0]) if number % 2 else ("alone", None)
                runs.append((side, measured(server, file, other, args.seconds)))
        return rows_of(runs)


def _wait_for_index(server: Server, token: str) -> None:
    """Return when searches are answered out of the index."""
    while server.request("GET", "/ready", headers={"authorization": f"Bearer {token}"})["status"] != "ok":
        time.sleep(0.2)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="each run, after a second of warm-up")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--searches", type=int, default=8, help="of a batch of searches, 0 for none")
    parser.add_argument("--calls", type=int, default=7, help="of a batch over MCP, 0 for none")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose server is measured")
    parser.add_argument("--switch-interval-ms", type=float, default=5.0, help="sys.setswitchinterval")
    parser.add_argument("--database-url", help="of a database that is filled already")
    args = parser.parse_args()
    if args.database_url:
        rows = compared(args, args.database_url)
    else:
        with fresh_database() as url:
            filler = Filler(url, Corpus(args.seed, None))
            console.print(f"{args.tools} tools written in {filler.fill(args.tools):.1f} s")
            filler.close()
            rows = compared(args, url)
    ratio = round(rows[1]["p95"] / rows[0]["p95"], 2)
    print_table("Plain searches alone and beside batches, milliseconds", rows)
    console.print(f"p95 beside / alone: {ratio}")
    save(args, "beside", {"rows": rows, "p95_ratio": ratio})


if __name__ == "__main__":
    main()
