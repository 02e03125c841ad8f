"""How much of a skill's vector its description should be: SKILLROUTE_SKILL_DESCRIPTION_SHARE on the judged sets.

Each set is imported as retrieval.py does it. Then, for each share, every skill is aggregated again and all queries are
searched with the hierarchical strategy, with the default thresholds and with none. With none every query is narrowed
to skills, so that the figures show how well skills are ranked and nothing else. With the defaults `no_skill` is the
share of queries for which no skill was near enough, which are searched directly. The row "direct" searches without
skills. Of the sets' descriptions only those of examples were written by people: sealtools' list the fields below, and
those of metatool and bfcl are the frequent words of k-means clusters.

    python benchmarks/description_share.py --data /path/to/data --shares 0,0.3,1
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import arguments, console, print_table, progress, save, words
from judged import Imported, evaluate, imported, load, request
from retrieval import THRESHOLDS
from rich.progress import Progress
from skillroute.skills.aggregation.aggregate import AggregateSkill
from skillroute.skills.repository import SkillRepository

_MEASURES = ("recall@1", "recall@5", "ndcg@5", "comp@5", "no_skill")
_DIRECT = "direct"

Row = dict[str, Any]


def shares(text: str) -> list[float]:
    """Read a list of numbers from 0 to 1: ``0,0.3,1``."""
    return [float(part) for part in text.split(",")]


def sweep(data: Imported, tried: list[float], bar: Progress) -> list[Row]:
    """Return a row for each share and each thresholds, and one of a search without skills."""
    task = bar.add_task(data.judged.name, total=(len(tried) + 1) * len(THRESHOLDS) * len(data.judged.queries))
    about = {
        "set": data.judged.name,
        "skills": f"{data.skill_count} {data.judged.skills_from}",
        "queries": len(data.judged.queries),
    }
    rows: list[Row] = []
    for share in (*tried, _DIRECT):
        if not isinstance(share, str):
            _aggregate_all(data, share)
        for which, thresholds in THRESHOLDS.items():
            strategy = "direct" if share == _DIRECT else "hierarchical"
            found = evaluate(
                data,
                data.parts.tool_search,
                lambda query, s=strategy, t=thresholds: request(query, s, "semantic", t),  # type: ignore[misc]
                lambda: bar.advance(task),
            )
            rows.append(about | {"thresholds": which, "share": share} | {name: found[name] for name in _MEASURES})
    return rows


def _aggregate_all(data: Imported, share: float) -> None:
    aggregate = AggregateSkill(data.parts.database, description_share=share)
    for key in data.parts.database.read(lambda session: SkillRepository(session).keys()):
        aggregate(key)


def mean_over_sets(rows: list[Row]) -> list[Row]:
    """Return the mean over the sets for each share and thresholds; each set counts the same."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["thresholds"], row["share"]), []).append(row)
    return [
        {"thresholds": which, "share": share}
        | {name: round(sum(row[name] for row in group) / len(group), 4) for name in _MEASURES}
        for (which, share), group in sorted(groups.items(), key=lambda entry: entry[0][0])
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with metatool, sealtools and bfcl")
    parser.add_argument("--sets", type=words, default=["examples", "metatool", "sealtools", "bfcl"])
    parser.add_argument("--shares", type=shares, default=[0.0, 0.15, 0.3, 0.5, 1.0], help="default: 0,0.15,0.3,0.5,1")
    parser.add_argument("--limit-queries", type=int, default=0, help="so many of each set, drawn by chance; 0: all")
    parser.add_argument("--limit-tools", type=int, default=0, help="fewer tools, for a quick look: easier than the set")
    args = parser.parse_args()
    rows: list[Row] = []
    for name in args.sets:
        limits = {"limit_queries": args.limit_queries, "limit_tools": args.limit_tools}
        judged = load(name, args.data, seed=args.seed, **limits)
        with imported(judged, args.seed) as data, progress() as bar:
            console.print(f"{name}: {len(judged.tools)} tools, {data.skill_count} skills ({judged.skills_from})")
            rows += sweep(data, args.shares, bar)
        print_table(name, [row for row in rows if row["set"] == name])
    means = mean_over_sets(rows)
    print_table("Mean over the sets", means)
    save(args, "description_share", {"rows": rows, "mean": means})


if __name__ == "__main__":
    main()
