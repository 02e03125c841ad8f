"""What is found by every way of asking, of all judged sets: one table.

Asked are the request hierarchically (the default) and directly, both in mode `hybrid`; and where a request has several
right tools, its needs as an agent states them, and both together. `requests/needs.jsonl` has the needs of the judged
requests of both catalogues, written from the request alone. Both catalogues are searched as they are, with what their
servers say of themselves, with packaged requests, and with both; requests that encoder or fusion were trained on are
left out. Skills are those of `judged.py`.

    python benchmarks/finding.py --data DATA --limit-queries 400 --json results/finding.json
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import HERE, arguments, console, print_table, save, words
from judged import Imported, Query, imported, load, mean, measures
from registry_corpus import read_lines
from skillroute.core.caller import LAPTOP
from skillroute.search.model import SearchRequest

SETS = ["livemcp-catalog", "docker-mcp-catalog", "metatool", "bfcl", "sealtools", "tool-requests"]
CATALOGUES = ("livemcp-catalog", "docker-mcp-catalog")
VARIANTS: Mapping[str, Mapping[str, bool]] = {
    "as imported": {},
    "server texts": {"with_servers": True},
    "packaged requests": {"packaged_requests": True},
    "both": {"with_servers": True, "packaged_requests": True},
}
_MEASURES = ("recall@1", "recall@5", "recall@10", "ndcg@5", "comp@5", "cpu_ms")

Json = dict[str, Any]


def stated_needs() -> dict[str, list[str]]:
    """Return the needs of judged requests, by the request."""
    stated = {line["id"]: line["needs"] for line in read_lines(HERE / "requests" / "needs.jsonl")}
    files = [HERE / "requests" / name for name in ("docker.jsonl", "livemcp.jsonl")]
    return {line["query"]: stated[line["id"]] for file in files for line in read_lines(file) if line["id"] in stated}


def ways(query: Query, needs: Sequence[str] | None) -> Iterator[tuple[str, Json]]:
    """Yield the ways to ask for what a request needs."""
    yield "default", {"query": query.text, "strategy": "hierarchical"}
    yield "direct", {"query": query.text, "strategy": "direct"}
    if needs:
        yield "direct, of those with needs", {"query": query.text, "strategy": "direct"}
        yield "needs", {"needs": needs, "strategy": "direct"}
        yield "request and needs", {"query": query.text, "needs": needs, "strategy": "direct"}


def found(data: Imported, asks: Mapping[str, Any], query: Query) -> Json:
    """Return the measures of one answer of ten results; the milliseconds are of processor time."""
    request = SearchRequest.model_validate({**asks, "limit": 10, "mode": "hybrid", "include_schemas": False})
    before_s = time.process_time()
    response = data.parts.tool_search.search(request, LAPTOP)
    cpu_ms = (time.process_time() - before_s) * 1000.0
    row = {**measures(data.ranked(response), query.needs), "cpu_ms": cpu_ms}
    return {name: row[name] for name in _MEASURES}


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the judged sets")
    parser.add_argument("--sets", type=words, default=SETS)
    parser.add_argument("--limit-queries", type=int, default=0, help="so many of each set, drawn by chance; 0: all")
    args = parser.parse_args()
    stated = stated_needs()
    results: list[Json] = []
    for name in args.sets:
        judged = load(name, args.data, seed=args.seed, limit_queries=args.limit_queries, unseen=True)
        for variant, options in (VARIANTS if name in CATALOGUES else {"as imported": {}}).items():
            rows: dict[str, list[Json]] = {}
            with imported(judged, args.seed, remembers_queries=False, **options) as data:
                data.parts.tool_search.search(SearchRequest(query="what comes first opens the model"), LAPTOP)
                for query in judged.queries:
                    for way, asks in ways(query, stated.get(query.text)):
                        rows.setdefault(way, []).append(found(data, asks, query))
            part = [
                {"set": name, "catalogue": variant, "asked": way, "requests": len(each), **mean(each)}
                for way, each in rows.items()
            ]
            console.print(*part, sep="\n")
            results += part
    print_table("Found by every way of asking", results)
    save(args, "finding", {"finding": results})


if __name__ == "__main__":
    main()
