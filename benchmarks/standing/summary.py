"""The figures that matter, as the first table of docs/benchmarks.md, read from the page's own tables.

`report.py` puts it there. After a change of `FIGURES` it can be made anew without measuring:

    python -m benchmarks.standing.summary docs/benchmarks.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.standing.marks import marked

TITLE = "The figures that matter"
_ABOUT = """\
Each is taken from a table below, where its conditions stand. Times are p50 and p95 in milliseconds, with one client
that waits for each answer. Recall@5 is the share of the right tools among the first five, with the default thresholds;
nDCG weighs them by rank. † and ‡ mark sets that something was fitted on, or chosen with in view."""
_PERCENTILES = ("p50", "p95")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the summary: which cells of which table it shows.

    Attributes
    ----------
    what
        What the row says is measured.
    section, table
        Headings of the page: the section, and how its part with the table begins.
    cells
        What each figure is called, with the columns that pick its row and the column that it stands in.
    """

    what: str
    section: str
    table: str
    cells: Sequence[tuple[str, Mapping[str, str], str]]


def _latency(tools: str) -> Figure:
    one = {"strategy": "hierarchical", "queries": "distinct", "concurrency": "1"}
    return Figure(
        f"Tool search over HTTP, {tools} tools",
        "Latency and throughput",
        f"Over HTTP, {tools} tools",
        [("", one, "whole")],
    )


def _retrieval(name: str) -> Figure:
    rankings = (("hierarchical", "hybrid"), ("hierarchical", "semantic"), ("direct", "semantic"), ("direct", "lexical"))
    rows = [
        (f"{strategy} {mode} ", {"strategy": strategy, "mode": mode, "thresholds": "default"}, "recall@5")
        for strategy, mode in rankings
    ]
    return Figure(f"Tool search, recall@5 on {marked(name)}", "Retrieval quality", name, rows)


def _registry(servers: str) -> Figure:
    one = {"queries": "ordinary", "connections": "1"}
    return Figure(
        f"Registry search over HTTP, {servers} servers",
        "Registry search: latency",
        f"{servers} servers",
        [("", one, "whole")],
    )


def _mail(messages: str) -> Figure:
    modes = [(f"{mode} ", {"through": "in process", "queries": mode}, "ms") for mode in ("lexical", "hybrid")]
    return Figure(
        f"Message search in process, {messages} messages", "Message search: latency", f"{messages} messages", modes
    )


_COMPARED = ("BM25", "MiniLM", "RRF", "FastMCP", "langgraph-bigtool", "hybrid", "hybrid (tuned)")

FIGURES = (
    Figure(
        "Recall@5 beside others, mean of the judged sets",
        "Compared with others",
        "Recall@5",
        [(f"{method} ", {"set": "mean"}, method) for method in _COMPARED],
    ),
    _latency("10000"),
    Figure(
        "Tool searches a second over HTTP, 10000 tools, 8 clients",
        "Latency and throughput",
        "Over HTTP, 10000 tools",
        [("", {"strategy": "hierarchical", "queries": "distinct", "concurrency": "8"}, "searches/s")],
    ),
    _latency("100000"),
    Figure(
        "Tool search through the Lambda handler, 10000 tools",
        "Latency and throughput",
        "Through the Lambda handler, 10000 tools",
        [("", {"strategy": "hierarchical"}, "whole_ms")],
    ),
    *(
        _retrieval(name)
        for name in ("examples", "metatool", "sealtools", "bfcl", "docker-mcp-catalog", "livemcp-catalog")
    ),
    Figure(
        "Cold start of search in Lambda's container, to the first answer, ms",
        "Cold start in the container",
        "With the layers as they are built",
        [("", {"function": "search"}, "total_ms")],
    ),
    Figure(
        "Building the embedded index of 10000 tools",
        "Import, index, cold start, memory",
        "Index",
        [("seconds ", {"tools": "10000"}, "build_s"), ("MiB at its peak ", {"tools": "10000"}, "peak_mib")],
    ),
    Figure(
        "New tools written a second, with their embeddings",
        "Import, index, cold start, memory",
        "Import through PUT",
        [("", {"items": "new"}, "tools/s")],
    ),
    Figure(
        "Tools classified a second by similarity",
        "The skill service",
        "Classification by similarity",
        [("", {"path": "service, batches of 10"}, "tools/s")],
    ),
    *(
        Figure(
            f"Classification by similarity, {what}, by description, keywords and tools",
            "The similarity classifier",
            "Held out by set",
            [
                (f"{name} ", {"set": set_, "encoder": "tool-minilm-l6", "skills have": "all"}, name)
                for name in ("precision", "found")
            ],
        )
        for set_, what in (("examples", "of the examples"), ("companies", "of four companies' tools"))
    ),
    Figure(
        "Registry search, nDCG@3 of servers",
        "Registry search: quality",
        "Means by kind of query",
        [
            (f"{ranking} ", {"group": "all", "ranking": ranking}, "ndcg@3")
            for ranking in ("boost", "coverage", "vector")
        ],
    ),
    _registry("1000"),
    _registry("10000"),
    Figure(
        "Message search, nDCG@10",
        "Message search: quality",
        "Means by kind of query",
        [
            (f"{ranking} ", {"kind": "all", "ranking": ranking}, "ndcg@10")
            for ranking in ("lexical", "semantic", "hybrid")
        ],
    ),
    _mail("10000"),
)


def with_summary(page: str, figures: Sequence[Figure] = FIGURES) -> str:
    """Return a page of benchmarks with its summary before the first section, in the place of an older one."""
    head, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    sections = [section for section in sections if not section.startswith(f"## {TITLE}\n")]
    rows = list(_rows(sections, figures))
    if not rows:
        return head + "".join(sections)
    table = "\n".join(["| what | figure | date | machine |", "|---|---|---|---|", *rows])
    return f"{head}## {TITLE}\n\n{_ABOUT}\n\n{table}\n\n" + "".join(sections)


def _rows(sections: Sequence[str], figures: Sequence[Figure]) -> Iterator[str]:
    """Return a row for each figure whose table is on the page; what was not measured has none."""
    for figure in figures:
        for section in sections:
            parts = re.split(r"^### ", section, flags=re.MULTILINE)
            part = next((text for text in parts[1:] if re.match(rf"{re.escape(figure.table)}\b", text)), "")
            if part and section.startswith(f"## {figure.section}\n"):
                cells = ", ".join(name + _cell(part, where, column) for name, where, column in figure.cells)
                yield f"| {figure.what} | {cells} | {_date(parts[0])} | {_machine(parts[0])} |"


def _cell(part: str, where: Mapping[str, str], column: str) -> str:
    """Return a cell of the first table that has the column, percentiles as `p50 3.5, p95 4.6`."""
    for table in re.findall(r"(?:^\|.*\n?)+", part, flags=re.MULTILINE):
        names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().split("\n"))
        for row in rows:
            found = dict(zip(names, row, strict=True))
            if column in found and where.items() <= found.items():
                values = found[column].split(" / ")
                return (
                    found[column]
                    if len(values) == 1
                    else ", ".join(map(" ".join, zip(_PERCENTILES, values, strict=False)))
                )
    raise LookupError(f"no row {dict(where)} with a column {column} under {part.splitlines()[0]!r}")


def _date(head: str) -> str:
    found = re.search(r"\. (\d{4}-\d\d-\d\d), commit ", head)
    return found[1] if found else ""


def _machine(head: str) -> str:
    """Return processor, cores and memory, as report.py writes them."""
    found = re.search(r"^(.+ cores), [\d.]+ GiB; ", head, flags=re.MULTILINE)
    return found[1] if found else ""


def main() -> None:
    page = Path(sys.argv[1])
    page.write_text(with_summary(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
