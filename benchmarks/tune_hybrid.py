"""Which hybrid_skill_weight is best: the hybrid strategy with weights from 0 (direct order) to 1 (order by skill).

python benchmarks/tune_hybrid.py --data /path/to/data
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import arguments, print_table, progress, save, words
from judged import Imported, evaluate, imported, load, request
from retrieval import THRESHOLDS
from rich.progress import Progress
from skillroute.search.answer.schemas import SchemaLoader
from skillroute.search.candidates.unembedded import MissingVectors
from skillroute.search.search import ToolSearch

_MEASURES = ("ndcg@5", "recall@5", "recall@1", "comp@5")


def sweep(data: Imported, weights: list[float], modes: list[str], bar: Progress) -> list[dict[str, Any]]:
    """Return a row for each mode, thresholds and weight."""
    runs = [
        (mode, which, weight)
        for mode in modes
        for which in (THRESHOLDS if mode == "semantic" else ["default"])
        for weight in weights
    ]
    task = bar.add_task(data.judged.name, total=len(runs) * len(data.judged.queries))
    rows = []
    for mode, which, weight in runs:
        schemas = SchemaLoader(data.parts.database)
        search = ToolSearch(
            data.parts.replica,
            data.parts.query_embedder,
            schemas,
            MissingVectors(data.parts.database),
            default_ranking="semantic",
            hybrid_skill_weight=weight,
        )
        found = evaluate(
            data,
            search,
            lambda query, m=mode, t=THRESHOLDS[which]: request(query, "hybrid", m, t),  # type: ignore[misc]
            lambda: bar.advance(task),
        )
        about = {"set": data.judged.name, "mode": mode, "thresholds": which, "weight": weight}
        rows.append(about | {name: found[name] for name in _MEASURES})
    return rows


def best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean over the sets for each mode, thresholds and weight, the best nDCG@5 first."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["mode"], row["thresholds"], row["weight"]), []).append(row)
    means = [
        {"mode": mode, "thresholds": which, "weight": weight}
        | {name: round(sum(row[name] for row in group) / len(group), 4) for name in _MEASURES}
        for (mode, which, weight), group in groups.items()
    ]
    return sorted(means, key=lambda row: (row["mode"], row["thresholds"], -row["ndcg@5"]))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", type=words, default=["examples", "sealtools"])
    parser.add_argument("--modes", type=words, default=["semantic", "lexical"])
    parser.add_argument("--step", type=float, default=0.1)
    parser.add_argument("--limit-queries", type=int, default=0, help="so many of each set, drawn by chance; 0: all")
    parser.add_argument("--limit-tools", type=int, default=0)
    args = parser.parse_args()
    steps = round(1.0 / args.step)
    weights = [round(number / steps, 3) for number in range(steps + 1)]
    rows: list[dict[str, Any]] = []
    for name in args.sets:
        limits = {"limit_queries": args.limit_queries, "limit_tools": args.limit_tools}
        judged = load(name, args.data, seed=args.seed, **limits)
        with imported(judged, args.seed) as data, progress() as bar:
            rows += sweep(data, weights, args.modes, bar)
    print_table("hybrid_skill_weight by set", rows)
    print_table("Mean over the sets, best first", best(rows))
    save(args, "tune_hybrid", {"rows": rows, "best": best(rows)})


if __name__ == "__main__":
    main()
