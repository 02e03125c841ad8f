"""Writing tools, building the index, starting cold, and memory.

- *import*: PUT /api/v1/tools over HTTP in calls of 500 with the real model: new items, the same again (unchanged),
  with other descriptions (embedded again), with other schemas only where the text stays the same (vector kept).
- *index*: a server's first look at a database of N tools (what every new search environment does), and its memory:
  after the start, with the index, and the peak after some searches.
- *cold*: fresh interpreter to first answer through the Lambda handler, with 1,000 tools; medians. `process` is what
  the parent waits, interpreter start included; `import` and `first` are parts of it.

    python -m benchmarks.standing.ingest --sizes 1000,10000,100000 --json results/ingest.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import (
    ROOT,
    SEARCH,
    STANDING,
    Server,
    arguments,
    child_environment,
    console,
    fresh_database,
    numbers,
    print_table,
    progress,
    save,
    serving,
)

_BATCH = 500
_SEARCHES = 200
_COLD_TOOLS = 1000

Row = dict[str, Any]


def import_rates(corpus: Corpus, count: int) -> list[Row]:
    """PUT items four times over: new, unchanged, with new texts, with new annotations only."""
    items = [corpus.item(number) for number in range(count)]
    rounds = {
        "new": items,
        "unchanged": items,
        "text changed": [{**item, "description": f"{item['description']} Now faster."} for item in items],
    }
    rounds["annotations changed"] = [{**item, "annotations": {"title": "x"}} for item in rounds["text changed"]]
    rows = []
    with fresh_database() as url, serving(url) as server:
        server.request("PUT", "/api/v1/tools", {"items": [{"name": "loads_the_model"}]})
        for name, sent in rounds.items():
            rows.append(_put(server, name, sent))
    return rows


def _put(server: Server, name: str, items: Sequence[Row]) -> Row:
    seconds, cpu_s = 0.0, server.cpu_s()
    outcome = dict.fromkeys(("created", "updated", "unchanged", "failed"), 0)
    with progress() as bar:
        for start in bar.track(range(0, len(items), _BATCH), description=name):
            started = time.perf_counter()
            answer = server.request("PUT", "/api/v1/tools", {"items": items[start : start + _BATCH]})
            seconds += time.perf_counter() - started
            for status in outcome:
                outcome[status] += answer[status]
    rate = round(len(items) / seconds, 1)
    return {"items": name, "tools/s": rate, "server_cpu_s": round(server.cpu_s() - cpu_s, 2), **outcome}


def index_builds(corpus: Corpus, sizes: Sequence[int]) -> list[Row]:
    """Build the index at each size in a fresh server, from one database that grows."""
    rows = []
    with fresh_database() as url:
        filler = Filler(url, corpus)
        for size in sorted(sizes):
            filled_s = filler.fill(size)
            console.print(f"{size} tools written in {filled_s:.1f} s")
            rows.append({"tools": size, **_index_build(url, corpus)})
        filler.close()
    return rows


def _index_build(url: str, corpus: Corpus) -> Row:
    with serving(url) as server:
        before = server.memory_mib()["now"]
        started = time.perf_counter()
        server.request("GET", "/ready")
        build_s = time.perf_counter() - started
        built = server.memory_mib()["now"]
        for query in corpus.queries(_SEARCHES):
            server.request("POST", SEARCH, {"query": query})
        return {
            "build_s": round(build_s, 3),
            "started_mib": before,
            "with_index_mib": built,
            "after_searches_mib": server.memory_mib()["now"],
            "peak_mib": server.memory_mib()["peak"],
        }


def cold_starts(corpus: Corpus, repeats: int) -> tuple[Row, list[Row]]:
    """Start the handler in fresh interpreters; return medians, and what the import is made of."""
    measured: list[dict[str, float]] = []
    with fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        filler = Filler(url, corpus)
        filler.fill(_COLD_TOOLS)
        filler.close()
        requests = Path(folder) / "requests.jsonl"
        requests.write_text(
            "\n".join(json.dumps({"query": query}) for query in corpus.queries(2)) + "\n", encoding="utf-8"
        )
        command = [sys.executable, str(STANDING / "lambda_process.py"), str(requests)]
        with progress() as bar:
            for _ in bar.track(range(repeats + 1), description="cold starts"):
                started = time.perf_counter()
                done = subprocess.run(command, check=True, capture_output=True, env=child_environment(url))
                process_ms = (time.perf_counter() - started) * 1000.0
                answer = json.loads(done.stdout.splitlines()[-1])  # before it come log lines
                measured.append({name: answer[f"{name}_ms"] for name in ("import", "first")} | {"process": process_ms})
        parts = import_parts(url)
    kept = measured[1:]  # the first one also wrote bytecode and warmed the disk's cache
    medians = {f"{name}_ms": round(statistics.median(one[name] for one in kept), 1) for name in kept[0]}
    return {"tools": _COLD_TOOLS, "starts": repeats, **medians}, parts


def import_parts(url: str, most: int = 15) -> list[Row]:
    """Return the packages that cost most to import with the search function, by their own time, children apart."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'functions' / 'search')!r}); import app"
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=child_environment(url))
    own_us: dict[str, int] = {}
    for line in done.stderr.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and fields[0].strip().isdigit():
            package = fields[2].strip().partition(".")[0]
            own_us[package] = own_us.get(package, 0) + int(fields[0])
    ranked = sorted(own_us.items(), key=lambda item: -item[1])
    rows = [{"package": package, "own_ms": round(us / 1000.0, 1)} for package, us in itertools.islice(ranked, most)]
    return [*rows, {"package": "all together", "own_ms": round(sum(own_us.values()) / 1000.0, 1)}]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=2000, help="tools to import through PUT (default: 2000)")
    parser.add_argument("--sizes", type=numbers, default=[1000, 10_000], help="index sizes (default: 1000,10000)")
    parser.add_argument("--cold-starts", type=int, default=5)
    parser.add_argument("--data", type=Path, help="real tools to begin with, see corpus.py")
    args: argparse.Namespace = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    imports = import_rates(corpus, args.tools)
    print_table(f"Import through PUT, {args.tools} tools in calls of {_BATCH}", imports)
    cold, parts = cold_starts(corpus, args.cold_starts)
    print_table("Cold start through the Lambda handler, medians", [cold])
    print_table("Imports of the search function (under -X importtime, which slows them)", parts)
    builds = index_builds(corpus, args.sizes)
    print_table("Index", builds)
    save(args, "ingest", {"import": imports, "cold": cold, "imports": parts, "index": builds})


if __name__ == "__main__":
    main()
