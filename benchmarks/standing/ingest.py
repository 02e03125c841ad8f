"""Writing tools, building the index, and memory.

- *import*: PUT /api/v1/tools over HTTP in calls of 500 with the real model: new items, the same again (unchanged),
  with other descriptions (embedded again), with other schemas only where the text stays the same (vector kept).
- *index*: a server's first look at a database of N tools (what every new search environment does), and its memory:
  after the start, with the index, and the peak after some searches.

    python -m benchmarks.standing.ingest --sizes 1000,10000,100000 --json results/ingest.json
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import (
    SEARCH,
    Server,
    arguments,
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


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=2000, help="tools to import through PUT (default: 2000)")
    parser.add_argument("--sizes", type=numbers, default=[1000, 10_000], help="index sizes (default: 1000,10000)")
    parser.add_argument("--data", type=Path, help="real tools to begin with, see corpus.py")
    args: argparse.Namespace = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    imports = import_rates(corpus, args.tools)
    print_table(f"Import through PUT, {args.tools} tools in calls of {_BATCH}", imports)
    builds = index_builds(corpus, args.sizes)
    print_table("Index", builds)
    save(args, "ingest", {"import": imports, "index": builds})


if __name__ == "__main__":
    main()
