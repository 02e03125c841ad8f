"""How well tools are found, beside what else there is: the same queries to Skillroute, to its peers and to plain BM25.

Judged sets down, methods across: recall@1, recall@5, nDCG@5, COMP@5 of all queries and of those with several needs,
and milliseconds, of five tools each. All methods read the same tools, and none is tuned for a set:

- BM25, MiniLM, RRF: a page of code over one text a tool (`peers/plain.py`), RRF with k = 60 out of the best 100 of both
- langgraph-bigtool: its retrieval tool on LangGraph's store in memory, with the same encoder (`peers/bigtool.py`)
- FastMCP: its BM25 search transform, asked through `search_tools` (`peers/fastmcp_search.py`)
- semantic, lexical, hybrid: Skillroute's modes, skills first, with the default thresholds of each; "direct" without
  skills; "(tuned)" with the encoder tool-minilm-l6, which langgraph-bigtool gets as well

Of sets that encoder or fusion were trained on, only queries for the held-out tools count (training/data.py). Peers run
in an environment of their own (`make bench-retrieval` makes it) and in a process each, on one thread; all are asked in
turn, query by query. What an interrupted run has measured of whole sets is taken up by the next with the same options
and the same commit; a run that comes to its end leaves nothing to take up.

    python -m benchmarks.standing.compare --data /path/to/data --peers .bench/peers --json .bench/compare.json
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillroute.core.embedding.packaged import models_dir
from skillroute.core.ranking.intervals import difference

from benchmarks.corpora.judged import JudgedSet, load, mean, measures
from benchmarks.harness import arguments, console, machine, print_table, progress, save, words
from benchmarks.standing.compare_processes import ENCODERS, Asked, Method, methods, started

SETS = ["docker-mcp-catalog", "livemcp-catalog", "examples", "tool-requests", "metatool", "bfcl", "sealtools"]
MEASURES = ("recall@1", "recall@5", "ndcg@5", "comp@5")
DEFAULT = "hybrid"
"""The baseline: the mode of a new deployment."""
PEERS = ("BM25", "MiniLM", "RRF", "FastMCP", "langgraph-bigtool")

Json = dict[str, Any]


def measure(judged: JudgedSet, args: argparse.Namespace) -> Json:
    """Ask every method every query of a set; return the rankings and times by method."""
    limits = _limits(args)
    encoders = {name: str(models_dir() / name) for name in args.encoders}
    wanted = methods(args.encoders)
    corpus = {"tools": [{**tool, "id": id_} for id_, tool in judged.tools.items()]}
    ours = {"set": judged.name, "data": str(args.data), "limits": limits}
    python = args.peers / "bin" / "python"
    with started(wanted, python, corpus, ours, encoders, args.folder) as processes, progress() as bar:
        versions: dict[str, str] = {}
        for asked in bar.track(processes.values(), description=f"{judged.name}: {len(judged.tools)} tools, loading"):
            versions |= asked.wait_until_loaded()
        queries = bar.track(judged.queries, description=f"{judged.name}: {len(wanted)} methods")
        _warm_up(wanted, processes, judged.queries[0].text)
        answers: dict[str, list[Json]] = {method.name: [] for method in wanted}
        for number, query in enumerate(queries):
            first = number % len(wanted)  # nobody is always asked behind the same neighbour
            for method in [*wanted[first:], *wanted[:first]]:
                answers[method.name].append(processes[method.process].ask(method.asked_as, query.text))
    return {"set": judged.name, "tools": len(judged.tools), "versions": versions, "answers": answers}


def _warm_up(wanted: Sequence[Method], processes: Mapping[str, Asked], query: str) -> None:
    for method in wanted:
        processes[method.process].ask(method.asked_as, query)


def _limits(args: argparse.Namespace) -> Json:
    names = ("limit_queries", "limit_tools", "seed")
    return {"unseen": True} | {name: getattr(args, name) for name in names}


def taken_up(judged: JudgedSet, args: argparse.Namespace) -> Json:
    """Return what was measured of a set, now or by a run that was interrupted."""
    file = args.folder / f"{judged.name}.json"
    given = _limits(args) | {"encoders": args.encoders, "commit": machine()["commit"]}
    if file.exists():
        kept: Json = json.loads(file.read_text(encoding="utf-8"))
        if kept["given"] == given:
            console.print(f"{judged.name}: measured by a run that was interrupted")
            return kept
    measured = {"given": given} | measure(judged, args)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(measured), encoding="utf-8")
    partial.replace(file)  # a file is whole or not there
    return measured


def rows_of(judged: JudgedSet, measured: Json) -> list[Json]:
    """Return a row for each method: the measures, the median time, and that as a multiple of the default mode's."""
    median = {
        name: {unit: statistics.median(answer[unit] for answer in answers) for unit in ("ms", "cpu_ms")}
        for name, answers in measured["answers"].items()
    }
    rows = []
    for name, answers in measured["answers"].items():
        found = mean(
            [measures(answer["ids"], query.needs) for answer, query in zip(answers, judged.queries, strict=True)]
        )
        about = {"set": judged.name, "tools": measured["tools"], "queries": len(judged.queries), "method": name}
        times = {unit: round(value, 2) for unit, value in median[name].items()}
        rows.append(
            about
            | {measure: found[measure] for measure in MEASURES}
            | several_of(judged, answers)
            | times
            | {"times": round(median[name]["ms"] / median[DEFAULT]["ms"], 2)}
        )
    return rows


def several_of(judged: JudgedSet, answers: Sequence[Json]) -> Json:
    """Return how many queries of a set have several needs, and COMP@5 of these, None where there are none."""
    pairs = zip(answers, judged.queries, strict=True)
    found = [measures(answer["ids"], query.needs)["comp@5"] for answer, query in pairs if len(query.needs) > 1]
    return {"several": len(found), "comp@5, several": round(statistics.mean(found), 4) if found else None}


def differences_of(judged: JudgedSet, measured: Json, seed: int) -> list[Json]:
    """Return how much more recall@5 the default has than each peer, with 95 % intervals of paired resamples."""

    def recalls(method: str) -> list[float]:
        answers = zip(measured["answers"][method], judged.queries, strict=True)
        return [measures(answer["ids"], query.needs)["recall@5"] for answer, query in answers]

    ours, rows = recalls(DEFAULT), []
    for peer in PEERS:
        more = difference(recalls(peer), ours, seed=seed)
        rows.append({"set": judged.name, "peer": peer, "mean": more.mean, "low": more.low, "high": more.high})
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the judged sets")
    parser.add_argument("--peers", type=Path, required=True, help="environment with locks/peers.lock")
    parser.add_argument("--sets", type=words, default=SETS)
    parser.add_argument("--encoders", type=words, default=list(ENCODERS), help="the first is the default's")
    parser.add_argument("--limit-queries", type=int, default=300, help="so many of each set, by chance; 0: all")
    parser.add_argument("--limit-tools", type=int, default=0, help="fewer tools, for a quick look: easier than the set")
    parser.add_argument("--folder", type=Path, default=Path(".bench/compare"), help="what is kept between runs")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Json] = []
    differences: list[Json] = []
    versions: dict[str, str] = {}
    for name in args.sets:
        judged = load(name, args.data, **_limits(args))
        measured = taken_up(judged, args)
        versions |= measured["versions"]
        rows += rows_of(judged, measured)
        differences += differences_of(judged, measured, args.seed)
        shown = [{key: row[key] for key in row if key != "set"} for row in rows if row["set"] == name]
        print_table(name, shown)
    save(args, "compare", {"rows": rows, "differences": differences, "versions": versions})
    for name in args.sets:
        (args.folder / f"{name}.json").unlink()


if __name__ == "__main__":
    main()
