"""How good the results are, on judged sets: recall, nDCG, MRR and COMP by strategy, mode and thresholds.

Each set is imported through the services into a fresh PostgreSQL and searched in this process. Skills are the set's
own for examples, the top-level fields for sealtools, the categories of the catalogues, and k-means clusters made by
this benchmark for the rest (the column "skills" tells). Mode semantic is measured with the default thresholds and with
none, so that what thresholds cost is seen; the others as they are, for lexical knows no thresholds and hybrid only
those that are given. `no_skill` is the share of queries for which no skill
narrowed the search, `empty` the share without any result. Measures are defined in judged.py.

    python -m benchmarks.standing.retrieval --data /path/to/data --limit-queries 300
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.corpora.judged import evaluate, imported, load, request
from benchmarks.harness import arguments, console, print_table, progress, save, words

SETS = ["examples", "metatool", "sealtools", "bfcl", "docker-mcp-catalog", "livemcp-catalog"]
THRESHOLDS = {"default": {}, "none": {"skill_threshold": 0.0, "tool_threshold": 0.0}}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with metatool, sealtools and bfcl")
    parser.add_argument("--sets", type=words, default=SETS)
    parser.add_argument("--strategies", type=words, default=["hierarchical", "direct", "hybrid"])
    parser.add_argument("--modes", type=words, default=["semantic", "lexical", "hybrid"])
    parser.add_argument("--limit-queries", type=int, default=0, help="so many of each set, drawn by chance; 0: all")
    parser.add_argument("--limit-tools", type=int, default=0, help="fewer tools, for a quick look: easier than the set")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.sets:
        limits = {"limit_queries": args.limit_queries, "limit_tools": args.limit_tools}
        judged = load(name, args.data, seed=args.seed, **limits)
        runs = [
            (strategy, mode, which)
            for mode in args.modes
            for strategy in args.strategies
            for which in (THRESHOLDS if mode == "semantic" else ["default"])
        ]
        with imported(judged, args.seed) as data, progress() as bar:
            console.print(f"{name}: {len(judged.tools)} tools, {data.skill_count} skills ({judged.skills_from})")
            task = bar.add_task(name, total=len(runs) * len(judged.queries))
            for strategy, mode, which in runs:
                found = evaluate(
                    data,
                    data.parts.tool_search,
                    lambda query, s=strategy, m=mode, t=THRESHOLDS[which]: request(query, s, m, t),  # type: ignore[misc]
                    lambda: bar.advance(task),  # noqa: B023 (called at once)
                )
                about = {
                    "set": name,
                    "skills": f"{data.skill_count} {judged.skills_from}",
                    "queries": len(judged.queries),
                }
                rows.append(about | {"strategy": strategy, "mode": mode, "thresholds": which} | found)
        print_table(name, [row for row in rows if row["set"] == name])
    save(args, "retrieval", {"rows": rows})


if __name__ == "__main__":
    main()
