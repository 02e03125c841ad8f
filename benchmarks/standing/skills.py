"""The skill service: skills over HTTP, updates of their embeddings, classification, and publishing the outbox.

- *http*: a mixed load, a fifth each create, get, list, patch and delete, in a closed loop; and reading alone: one
  skill, the first 100 of the list, the first 100 tools of a skill. Each skill has ten tools. The server is the one of
  latency.py, in a process of its own and without queues, so it aggregates skills itself. p50 and p95.
- *aggregation*: AggregateSkill, one skill after the other, each with another mean than the last time. Members are read
  from PostgreSQL, the mean is written; skills of all sizes lie in one database, of 31,000 tools by default. `peak
  growth` is what tracemalloc sees, in a run that is not timed.
- *classification*: ClassifyTools with the embedded classifier: the examples' 273 tools into their 23 skills, none of
  them assigned, storage included; by the service alone in batches of ten, and from the first message in moto to the
  last row that the event pump stored.
- *dispatch*: publishing rows of the outbox to moto in batches, as every commit and the relay do it.

Medians over --rounds. Goals (two cores): 200 requests/s of the mixed load; p95 of get and list 20 ms; 100 updates/s of
ordinary skills, 1 s for one of 10,000 tools; 300 tools/s by the service.

    python -m benchmarks.standing.skills --json results/skills.json
    python -m benchmarks.standing.skills --parts aggregation --aggregate 10000 --rounds 3
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import arguments, numbers, print_table, save, words
from benchmarks.standing.skill_load import SkillLoad
from benchmarks.standing.skill_work import aggregation, classification, dispatch, through_queues

_PARTS = ("http", "aggregation", "classification", "dispatch")

Row = dict[str, Any]


def flat(rows: list[Row]) -> list[Row]:
    """Return the rows with percentiles as text."""
    return [
        {
            name: " / ".join(f"{number:.1f}" for number in value.values()) if isinstance(value, dict) else value
            for name, value in row.items()
        }
        for row in rows
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--parts", type=words, default=list(_PARTS), help=f"of {','.join(_PARTS)}; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are taken (default: 3)")
    parser.add_argument("--skills", type=numbers, default=[23, 1000], help="skills over HTTP (default: 23,1000)")
    parser.add_argument("--connections", type=numbers, default=[1, 4, 8], help="over HTTP (default: 1,4,8)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each mixed round, half for reading (default: 4)")
    parser.add_argument(
        "--aggregate",
        type=numbers,
        default=[10, 100, 1000, 10_000],
        help="tools of a skill (default: 10,100,1000,10000)",
    )
    parser.add_argument("--rows", type=int, default=1000, help="rows to publish (default: 1000)")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(_PARTS):
        parser.error(f"--parts: {', '.join(sorted(unknown))} is not one of {', '.join(_PARTS)}")
    results: dict[str, list[Row]] = {}
    if "http" in args.parts:
        with tempfile.TemporaryDirectory() as folder:
            load = SkillLoad(args.skills, args.connections, args.seconds, args.rounds, Path(folder))
            results["mixed"], results["reading"] = load.measure(args.seed)
        print_table("A mixed load over HTTP; milliseconds as p50 / p95", flat(results["mixed"]))
        print_table("Reading over HTTP; milliseconds as p50 / p95", flat(results["reading"]))
    if "aggregation" in args.parts:
        results["aggregation"] = aggregation(args.aggregate, args.rounds, args.seed)
        print_table("Updates of a skill's embedding", results["aggregation"])
    if "classification" in args.parts:
        results["classification"] = [*classification(args.rounds), *through_queues(args.rounds)]
        print_table("Classification by similarity", results["classification"])
    if "dispatch" in args.parts:
        results["dispatch"] = dispatch(args.rows, args.rounds)
        print_table("Publishing the outbox to moto", results["dispatch"])
    save(args, "skills", results)


if __name__ == "__main__":
    main()
