"""Whether hybrid search is at or above both of its halves: judged sets alone, and among real tools of ordinary names.

Each set is searched as it is, and together with the tools of 1,428 real MCP servers (`crowd.py`), but for those that
are as near to a right tool as `ALIKE`. Ours alone, by the program's own services: the default (hierarchical, hybrid),
and direct search in each mode; recall@1, recall@5 and nDCG@5 of five tools, with the modes' default thresholds, which
meaning alone is also asked without. Peers are asked in `compare.py`. Of sets that encoder or fusion were trained on,
only queries for held-out tools count. Nothing is timed: vectors are kept between runs (`.bench/vectors`), those of
tools take minutes the first time.

    python -m benchmarks.standing.among --data /path/to/data --json .bench/among.json
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.packaged import models_dir

from benchmarks.corpora.crowd import Remembered, beside, crowd
from benchmarks.corpora.judged import Imported, JudgedSet, imported, load, mean, measures, request
from benchmarks.harness import ROOT, arguments, print_table, progress, save, words

SETS = ["docker-mcp-catalog", "livemcp-catalog", "examples", "tool-requests", "metatool", "bfcl", "sealtools"]
DEFAULT = "hierarchical hybrid"
PLAIN = "direct semantic, no thresholds"
METHODS = (DEFAULT, "direct hybrid", "direct semantic", PLAIN, "direct lexical")
MEASURES = ("recall@1", "recall@5", "ndcg@5")

Json = dict[str, Any]


def rows_of(data: Imported, where: str) -> Iterator[Json]:
    """Ask every query by every method; return a row for each."""
    judged = data.judged
    about = {"set": judged.name, "where": where, "tools": len(judged.tools), "queries": len(judged.queries)}
    with progress() as bar:
        for method in METHODS:
            strategy, mode = method.removesuffix(", no thresholds").split()
            thresholds = {"tool_threshold": 0.0, "skill_threshold": 0.0} if method == PLAIN else {}
            found = []
            for query in bar.track(judged.queries, description=f"{judged.name} {where}: {method}"):
                asked = request(query.text, strategy, mode, thresholds).model_copy(update={"limit": 5})
                response = data.parts.tool_search.search(asked, LAPTOP)
                found.append(measures(data.ranked(response), query.needs))
            figures = mean(found)
            yield about | {"method": method} | {name: figures[name] for name in MEASURES}


def measured(judged: JudgedSet, others: list[Json], embedder: Remembered, args: argparse.Namespace) -> Iterator[Json]:
    """Measure a set alone and among the crowd."""
    for where in args.where:
        right = {id_ for query in judged.queries for id_ in query.relevant}
        around = {} if where == "alone" else beside(judged.tools, right, others, embedder)
        searched = replace(judged, tools={**judged.tools, **around})
        embedder.keep()
        with imported(searched, args.seed, embedder) as data:
            embedder.keep()
            yield from rows_of(data, where)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the judged sets")
    parser.add_argument("--sets", type=words, default=SETS)
    parser.add_argument("--where", type=words, default=["alone", "among"], help="alone, among, or both")
    parser.add_argument("--encoder", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument("--limit-queries", type=int, default=300, help="so many of each set, by chance; 0: all")
    parser.add_argument("--limit-crowd", type=int, default=0, help="fewer of the real tools, for a quick look")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench" / "vectors", help="where vectors are kept")
    args = parser.parse_args()
    embedder = Remembered(models_dir() / args.encoder, args.folder)
    others = crowd(args.data)
    if args.limit_crowd:
        others = random.Random(args.seed).sample(others, min(args.limit_crowd, len(others)))
    rows: list[Json] = []
    for name in args.sets:
        judged = load(name, args.data, seed=args.seed, limit_queries=args.limit_queries, unseen=True)
        new = list(measured(judged, others, embedder, args))
        print_table(name, [{key: row[key] for key in row if key != "set"} for row in new])
        rows += new
        save(args, "among", {"rows": rows})


if __name__ == "__main__":
    main()
