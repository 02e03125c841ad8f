"""The section of docs/benchmarks.md that compares the indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tables import table

_ABOUT = (
    "One catalogue in each index; milliseconds of searches for the best 100, as p50 / p95 / p99. What is measured "
    "stands in `benchmarks/indexes.py`; why PostgreSQL is searched so, in "
    "[ADR 61](adr/0061-search-inside-postgresql.md). *First* is from nothing to the first answer of a process that "
    "runs already, in seconds: with `embedded` the replica is built."
)
_TIMES = ("p50", "p95", "p99")


def indexed(results: Mapping[str, Any]) -> str:
    """Return the tables of a run of `indexes.py`."""
    sizes = [
        {
            "tools": tools,
            "first, embedded": result["first_s"]["embedded"],
            "first, postgres": result["first_s"]["postgres"],
            "filling PostgreSQL, s": result["points_s"],
            "storing 500 tools, ms": result["store_ms"],
            "the same with points, ms": result["store_with_points_ms"],
            **{f"{name}, MiB": round(size) for name, size in sorted(result["mib"].items())},
        }
        for tools, result in results.items()
    ]
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for result in results.values():
        for row in result["rows"]:
            shown = rows.setdefault((row["tools"], row["what"]), {"tools": row["tools"], "search": row["what"]})
            shown["passing"] = row["passing"]
            shown[row["index"]] = {name: row[name] for name in _TIMES}
            shown |= {name: value for name, value in row.items() if name.startswith("recall")}
    names = ("tools", "search", "passing", "embedded", "postgres", "recall@10", "recall@100")
    ordered = [{name: row.get(name, "") for name in names} for row in rows.values()]
    return "\n\n".join([_ABOUT, table(ordered), "### First answers and sizes", table(sizes)])
