"""The section of docs/benchmarks.md about what `among.py` measured: hybrid search beside both of its halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.standing.tables import table

Json = dict[str, Any]

_HYBRID = "direct hybrid"
_DEFAULT = "hierarchical hybrid"
_HALVES = ("direct semantic", "direct semantic, no thresholds", "direct lexical")
_MEASURES = {"recall@1": "Recall@1", "recall@5": "Recall@5", "ndcg@5": "nDCG@5"}
_WHERE = {"alone": "the set alone", "among": "among the tools of real servers"}
_ABOUT = """\
Each judged set alone, and among the tools of 1,428 real MCP servers with their ordinary names, without those at a
cosine of 0.85 or more to a right tool, which would count as wrong where they serve ([ADR
64](adr/0064-fitted-among-distractors.md)); `training/among.py` says how. Ours alone, in process, with the default
thresholds of each mode, and meaning also without: the peers are compared above, on the sets alone. Of sets that encoder
and fusion learned from, only queries for held-out tools count."""


def measured_among(results: Json) -> str:
    """Return the section's text."""
    rows = results["rows"]
    parts = [_ABOUT, "### Where hybrid is at or above both of its halves", verdicts(rows)]
    for where, what in _WHERE.items():
        some = [row for row in rows if row["where"] == where]
        if some:
            parts += [f"### {title}, {what}\n\n{table(_by_set(some, measure))}" for measure, title in _MEASURES.items()]
    return "\n\n".join(parts)


def verdicts(rows: Sequence[Json]) -> str:
    """Say for each set, alone and among others, by how much hybrid is above the better of its halves."""
    of: dict[tuple[str, str], dict[str, Json]] = {}
    for row in rows:
        of.setdefault((row["set"], row["where"]), {})[row["method"]] = row
    listed = [
        {"set": name, "where": _WHERE[where]}
        | {f"{kind}, {title}": _above(found, method, measure) for kind, method in _KINDS for measure, title in _TITLES}
        for (name, where), found in of.items()
    ]
    below = [f"{row['set']}, {row['where']}" for row in listed if any(str(cell)[0] == "-" for cell in row.values())]
    count = f"{len(listed) - len(below)} of {len(listed)}"
    said = f"On {count} of these by all three measures, direct and as the default searches"
    return f"{said}{'; not on: ' + '; '.join(below) if below else ''}.\n\n{table(listed)}"


_KINDS = (("default", _DEFAULT), ("direct", _HYBRID))
_TITLES = tuple(_MEASURES.items())


def _above(found: Mapping[str, Json], method: str, measure: str) -> str:
    """Return a difference, as what is shown of it: of half a thousandth it is none."""
    more = round(found[method][measure] - max(found[half][measure] for half in _HALVES if half in found), 3)
    return f"{more + 0.0:+.3f}"


def _by_set(rows: Sequence[Json], measure: str) -> list[Json]:
    by_set: dict[str, Json] = {}
    for row in rows:
        start = {name: row[name] for name in ("set", "tools", "queries")}
        by_set.setdefault(row["set"], start)[row["method"]] = row[measure]
    return list(by_set.values())
