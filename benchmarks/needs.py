"""What a task finds when its needs are stated one by one, against the whole request.

For 30 judged requests of both catalogues that have two or more right tools, `requests/needs.jsonl` has their needs, as
an agent states them: written from the request alone. Each catalogue is searched by itself, direct and hybrid, with
5 and with 10 results in all.

    python benchmarks/needs.py --data DATA --json results/needs.json
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import HERE, arguments, print_table, save
from judged import Imported, imported, load, mean
from registry_corpus import read_lines
from skillroute.core.caller import LAPTOP
from skillroute.search.model import SearchRequest
from skillroute_local.evaluating.metrics import comp, recall

REQUESTS = {"docker-mcp-catalog": "docker.jsonl", "livemcp-catalog": "livemcp.jsonl"}
_LIMITS = (5, 10)

Json = dict[str, Any]


def asked(line: Json, needs: Sequence[str]) -> dict[str, Json]:
    """Return what is asked, by the ways of asking."""
    return {
        "whole request": {"query": line["query"]},
        "needs": {"needs": needs},
        "both": {"query": line["query"], "needs": needs},
    }


def found(data: Imported, asks: Mapping[str, Any], right: Sequence[frozenset[str]]) -> Json:
    """Return the measures of one way to ask; the milliseconds of processor time are those of ten results."""
    row: Json = {}
    for limit in _LIMITS:
        request = SearchRequest.model_validate(
            {**asks, "limit": limit, "strategy": "direct", "mode": "hybrid", "include_schemas": False}
        )
        before_s = time.process_time()
        ranked = data.ranked(data.parts.tool_search.search(request, LAPTOP))
        row["cpu_ms"] = (time.process_time() - before_s) * 1000.0
        row[f"recall@{limit}"], row[f"comp@{limit}"] = recall(ranked, right, limit), comp(ranked, right, limit)
    return row


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the judged sets")
    args = parser.parse_args()
    stated = {line["id"]: line["needs"] for line in read_lines(HERE / "requests" / "needs.jsonl")}
    rows: dict[str, list[Json]] = {}
    for name, file in REQUESTS.items():
        lines = [line for line in read_lines(HERE / "requests" / file) if line["id"] in stated]
        with imported(load(name, args.data, seed=args.seed), args.seed) as data:
            data.parts.tool_search.search(SearchRequest(query="what comes first opens the model"), LAPTOP)
            for line in lines:
                right = [frozenset(ids) for ids in line["needs"]]
                for way, asks in asked(line, stated[line["id"]]).items():
                    rows.setdefault(f"{name}: {way}", []).append(found(data, asks, right))
                    rows.setdefault(f"both catalogues: {way}", []).append(rows[f"{name}: {way}"][-1])
    results = [{"asked": way, "requests": len(each), **mean(each)} for way, each in rows.items()]
    print_table("Stated needs", results)
    save(args, "needs", {"needs": results})


if __name__ == "__main__":
    main()
