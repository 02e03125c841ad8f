"""Turn the JSON files of a folder into one Markdown page that begins with the figures that matter (`summary.py`).

A set that this project fitted or chose something on is marked (`marks.py`).

Of several files of one benchmark with the same options the medians are taken, field by field. With ``--keep`` only
what the files measured is replaced on a page that is there, all sections of a heading at once.

    python -m benchmarks.standing.report results/ --output docs/benchmarks.md
    python -m benchmarks.standing.report results/compare.json --output docs/benchmarks.md --keep
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.standing.among_report import measured_among
from benchmarks.standing.compare_report import compared
from benchmarks.standing.marks import with_marks
from benchmarks.standing.quality_report import agent_skills, message_quality, registry_quality
from benchmarks.standing.summary import TITLE, with_summary
from benchmarks.standing.tables import table, titled

Json = dict[str, Any]

_OF_THIS_RUN = {"cache", "json", "data", "directory", "peers", "folder", "beside", "reranker"}
"""Options that say where things lie, not what was measured."""
_STAGE_NAMES = ("query_embedding", "skill_search", "tool_search", "rerank", "schema_load", "index_sync", "total")
_HEAD = """# Benchmarks

Written by `benchmarks/standing/report.py`; do not edit. What each figure means and how to measure it
again: `benchmarks/README.md`. Times are wall clock. PostgreSQL, server and load client share the cores of the machine
that is named, with the date; a figure that has no newer run keeps the date of its last. Comparisons that were made once
are [studies](studies/README.md).
"""


def median_of(values: Sequence[Any]) -> Any:
    """Return the median of numbers, field by field of objects and lists; of anything else the first."""
    first = values[0]
    if isinstance(first, bool) or any(type(value) is not type(first) for value in values):
        return first
    if isinstance(first, (int, float)):
        return round(statistics.median(values), 4)
    if isinstance(first, dict):
        return {name: median_of([value[name] for value in values if name in value]) for name in first}
    if isinstance(first, list) and all(len(value) == len(first) for value in values):
        return [median_of([value[place] for value in values]) for place in range(len(first))]
    return first


def _machine(machine: Json, runs: int) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB; {machine['system']}; "
        f"Python {machine['python']}; {packages}. {machine['date'][:10]}, commit {machine['commit']}. "
        f"Load average before: {machine['load_average'][0]}. "
        + (f"Medians of {runs} runs." if runs > 1 else "One run.")
    )


def _latency(results: Json) -> str:
    return "\n\n".join(
        [
            f"### Over HTTP, {results['tools']} tools",
            _over_http(results["http"], ("strategy", "mode", "queries", "concurrency"), _STAGE_NAMES),
            f"### Through the Lambda handler, {results['tools']} tools",
            table(results["lambda"]),
        ]
    )


def _over_http(rows: Sequence[Json], run: Sequence[str], stage_names: Sequence[str]) -> str:
    ends = [
        {name: row[name] for name in (*run, "searches/s")}
        | {"whole": row["whole_ms"], "server": row["stages_ms"]["total"]}
        | ({"cpu_ms": row["cpu_ms"]} if "cpu_ms" in row else {})
        | {"errors": row["errors"]}
        for row in rows
    ]
    stages = [{name: row[name] for name in run} | {s: row["stages_ms"][s] for s in stage_names} for row in rows]
    return "\n\n".join(["Milliseconds as p50 / p95 / p99.", table(ends), "Stages on the server:", table(stages)])


def _ingest(results: Json) -> str:
    titles = {"import": "Import through PUT", "index": "Index: building and memory"}
    return "\n\n".join(titled(titles, results))


def _retrieval(results: Json) -> str:
    by_set: dict[str, list[Json]] = {}
    for row in results["rows"]:
        by_set.setdefault(row["set"], []).append({name: value for name, value in row.items() if name != "set"})
    return "\n\n".join(f"### {name}\n\n{table(rows)}" for name, rows in by_set.items())


_CLASSIFICATION = {
    "quality": "Held out by set",
    "companies": "Companies, one by one; skills have everything",
    "caution": "More and less caution; skills have everything",
    "reliability": "Reliability of the highest confidence without the caution; skills have everything",
    "ablations": "All features but one; skills have everything",
    "speed": "Speed, one thread",
}


def _classification(results: Json) -> str:
    about = (
        "Constants are fitted on other sets than the one they are judged on; what is measured, and what the columns "
        "mean, stands in `training/classification.py`; what follows from it in "
        "[ADR 46](adr/0046-two-judges-assign.md)."
    )
    return "\n\n".join([about, *titled(_CLASSIFICATION, results)])


_COLD_START = {
    "starts": "With the layers as they are built",
    "compiled_runtime": "With bytecode of the image's own packages, where it lacks that",
    "secret": "The same, with the database's URL in a secret, as in a deployment",
    "without_bytecode": "Without bytecode in the layers",
    "imports": "What is imported until the second answer, by package",
}


def _cold_start(results: Json) -> str:
    about = (
        "In the container that Lambda runs, with the function's memory and the share of a processor that goes with it; "
        "medians of milliseconds. What is in a figure, and what only AWS can add, stands in `standing/cold_start.py`."
    )
    return "\n\n".join([about, *titled(_COLD_START, results)])


_SKILLS = {
    "mixed": "A mixed load over HTTP: create, get, list, patch and delete, a fifth each",
    "reading": "Reading over HTTP",
    "aggregation": "Updates of a skill's embedding, one after the other",
    "classification": "Classification by similarity, storage included",
    "dispatch": "Publishing the outbox to moto",
}


def _skills(results: Json) -> str:
    about = "Milliseconds as p50 / p95. What the rows are, and the goals, stands in `benchmarks/standing/skills.py`."
    return "\n\n".join([about, *titled(_SKILLS, results)])


def _registry_latency(results: Json) -> str:
    rows = results["rows"]
    title = f"### {results['servers']} servers with {results['servers'] * results['tools_per_server']} tools"
    return f"{title}\n\n{_over_http(rows, ('queries', 'connections'), list(rows[0]['stages_ms']))}"


def _message_latency(results: Json) -> str:
    count = results["messages"]
    about = (
        "Milliseconds as p50 / p95 / p99, one search after the other; `cpu_ms` is the processor time of the searching "
        "process, PostgreSQL's left out: where it is far below the wall clock, the machine had other work, and that is "
        "in the wall clock. The kinds of queries are explained in `benchmarks/standing/message_latency.py`."
    )
    if count > results["embedded"]:
        about += (
            f" The model embedded the first {results['embedded']:,} messages; the others have one of those vectors, "
            "with noise."
        )
    parts = [f"### {count} messages", about, table(results["rows"])]
    parts += [f"### {count} messages: building the index, and memory of the server", table([results["index"]])]
    if results.get("writing"):
        parts += ["### Writing through PUT, calls of 500, into an empty database", table(results["writing"])]
    return "\n\n".join(parts)


def _cost(results: Json) -> str:
    about = (
        "The slowest case of each route, with processor time of the process and of PostgreSQL together, and the most "
        "memory and bytes of any: the largest page, body and query that it takes, texts that were made to be slow, and "
        "bodies that it refuses, over 3,000 tools, 1,000 skills, 1,000 agents and 1,000 messages of which many are as "
        "large as the API takes. What a route may cost at most stands first; `make bench-cost` fails beyond it. What "
        "cases there are stands in `standing/cost_cases.py`. Where the model would be most of the time, vectors are "
        "drawn at random."
    )
    return "\n\n".join([about, table(results["bounds"]), table(results["rows"])])


def _answer_tokens(results: Json) -> str:
    about = (
        "Tokens by the embedding model's tokenizer, which makes more of JSON than those of large language models. "
        "Requests are the 210 judged ones for Docker's catalogue; of them medians, and the most. Servers are drawn a "
        "thousand times."
    )
    titles = {"tokens": "Docker's MCP catalogue", "connect": "`skillroute connect` in the place of servers"}
    return "\n\n".join([about, *titled(titles, results)])


_CALLS = {
    "detour": "One call after the other",
    "mixed": "Good and bad servers, mixed, of two organisations",
    "searches": "Searches meanwhile",
    "memory": "Memory of the server, searches included",
}


def _calls(results: Json) -> str:
    about = (
        "Milliseconds as p50 / p95 / p99. What the rows are stands in `standing/calls.py`: an answer is right where a "
        "good server's came, or a bad one's did not and the caller was told so; strangers are answers with anything of "
        "another call."
    )
    return "\n\n".join([about, *titled(_CALLS, results)])


_SECTIONS = {
    "compare": ("Compared with others", compared),
    "among": ("Among real tools with ordinary names", measured_among),
    "retrieval": ("Retrieval quality", _retrieval),
    "latency": ("Latency and throughput", _latency),
    "ingest": ("Import, index, cold start, memory", _ingest),
    "cold_start": ("Cold start in the container", _cold_start),
    "classification": ("The similarity classifier", _classification),
    "skills": ("The skill service", _skills),
    "registry_quality": ("Registry search: quality", registry_quality),
    "registry_latency": ("Registry search: latency", _registry_latency),
    "message_quality": ("Message search: quality", message_quality),
    "agent_skills": ("Agent Skills: found by their bodies", agent_skills),
    "message_latency": ("Message search: latency", _message_latency),
    "calls": ("Calls of tools", _calls),
    "resume": ("Filling an index server", lambda results: table(results["phases"])),
    "answer_tokens": ("Tokens in an agent's context", _answer_tokens),
    "cost": ("The most that a request costs, by route", _cost),
}


def sections_of(documents: Sequence[Json]) -> list[str]:
    """Return a section for each benchmark and its options, in the page's order."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for document in documents:
        options = {name: value for name, value in document["options"].items() if name not in _OF_THIS_RUN}
        groups.setdefault((document["benchmark"], json.dumps(options, sort_keys=True)), []).append(document)
    sections = []
    for name, (title, write) in _SECTIONS.items():
        for (benchmark, given), runs in groups.items():
            if benchmark == name:
                head = f"## {title}\n\n{_machine(runs[-1]['machine'], len(runs))}\n\nOptions: `{given}`"
                sections.append(f"{head}\n\n{write(median_of([run['results'] for run in runs]))}")
    return sections


def replaced(page: str, sections: Sequence[str]) -> list[str]:
    """Return the sections of a page with those of the same headings replaced; new ones, and what no script measures
    any more, follow."""
    titles = [title for title, _ in _SECTIONS.values()]
    new = {_title(section) for section in sections} | {TITLE}
    kept = [part for part in re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:] if _title(part) not in new]
    place = {title: number for number, title in enumerate(titles)}
    return sorted([*kept, *sections], key=lambda section: place.get(_title(section), len(titles)))


def _title(section: str) -> str:
    return section.partition("\n")[0].removeprefix("## ")


def whole(sections: Sequence[str]) -> str:
    """Return the page."""
    return with_summary(with_marks("\n\n".join(section.strip() for section in [_HEAD, *sections]) + "\n"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="JSON file of another script, or a folder with some")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown file to write")
    parser.add_argument("--keep", action="store_true", help="keep the file's other sections")
    args = parser.parse_args()
    files = [args.results] if args.results.is_file() else sorted(args.results.glob("*.json"))
    if not files:
        parser.error(f"{args.results} holds no .json files")
    sections = sections_of([json.loads(file.read_text(encoding="utf-8")) for file in files])
    if args.keep:
        sections = replaced(args.output.read_text(encoding="utf-8"), sections)
    args.output.write_text(whole(sections), encoding="utf-8")
    print(f"written: {args.output} ({len(files)} files)")


if __name__ == "__main__":
    main()
