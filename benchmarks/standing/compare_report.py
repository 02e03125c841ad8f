"""The section of docs/benchmarks.md about what `compare.py` measured: sets down, methods across."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.standing.tables import span, table

Json = dict[str, Any]

_SHARES = {
    "recall@5": "Recall@5",
    "recall@1": "Recall@1",
    "ndcg@5": "nDCG@5",
    "comp@5": "COMP@5: the share of requests of which all needs are served",
}
_SEVERAL = "COMP@5 of the requests with several needs"
_TIMES = {
    "ms": "Milliseconds a query, median",
    "times": "The same, as a multiple of those of `hybrid`",
    "cpu_ms": "Milliseconds of processor time of the answering process, median",
}
_ABOUT = """\
The same queries to all, and how their answers compare; `standing/compare.py` says what each method is. What each was
given, and why that is fair:

- All read the same tools and are asked for five. Of the sets marked †, of which the fusion and
  the encoder `tool-minilm-l6` learned from other parts, only queries for held-out tools count. The requests of the
  catalogues and of `examples` were written in this project. Of the peers, only the text that BM25, MiniLM and RRF read
  was chosen on these sets. Where hybrid is at or above its own halves, and where not, [the next
  section](#among-real-tools-with-ordinary-names) says.
- **BM25**, **MiniLM** and **RRF** of both (k = 60, the best 100 of each) read one text a tool, with server, name,
  description, arguments and their descriptions: of the texts tried the best for both. BM25 is bm25s with words split
  at underscores and capitals, stemmed, without stop words.
- **langgraph-bigtool** has its own retrieval tool and LangGraph's store in memory (with numpy), "name: description" as
  its README has it, and the same encoder as ours. **FastMCP** has its BM25 search transform, asked through the tool
  `search_tools`, with descriptions and schemas. In both a tool is called `server_name`: they know the server as well.
- **semantic**, **lexical** and **hybrid** are Skillroute's modes as a deployment runs them, skills first, with the
  default thresholds of each mode; `direct` is without skills. Skills are the sets' own, their categories, or k-means
  clusters; the others have no use for them. **(tuned)** is `tool-minilm-l6`, which langgraph-bigtool gets as well.
- A query goes to all methods in turn, each in a process of its own, on one thread (hybrid embeds the clauses of a long
  request on as many as there are cores). Times include embedding the query, which no method remembers. Ours include
  looking for changes in PostgreSQL and loading schemas, FastMCP's the whole definitions of tools; the others return
  ids. On a busy machine times are long for all: compare them within a set, processor time rather than the clock's."""


def compared(results: Json) -> str:
    """Return the section's text."""
    rows = results["rows"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(results["versions"].items()))
    parts = [_ABOUT, f"Compared were {versions}."]
    parts += [f"### {title}\n\n{table([*_by_set(rows, name), _means(rows, name)])}" for name, title in _SHARES.items()]
    parts += [f"### {_SEVERAL}\n\n{table(several)}" for several in [_of_several(rows)] if several]
    parts += [f"### {title}\n\n{table(_by_set(rows, name))}" for name, title in _TIMES.items()]
    return "\n\n".join([*parts, _differences(results["differences"])])


def _by_set(rows: Sequence[Json], measure: str) -> list[Json]:
    by_set: dict[str, Json] = {}
    for row in rows:
        start = {name: row[name] for name in ("set", "tools", "queries")}
        by_set.setdefault(row["set"], start)[row["method"]] = row[measure]
    return list(by_set.values())


def _of_several(rows: Sequence[Json]) -> list[Json]:
    """Return COMP@5 of the queries with several needs, of the sets that have some; `queries` counts these alone."""
    some = [row | {"queries": row["several"]} for row in rows if row["several"]]
    return [*_by_set(some, "comp@5, several"), _means(some, "comp@5, several")] if some else []


def _means(rows: Sequence[Json], measure: str) -> Json:
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row["method"], []).append(row[measure])
    means = {method: round(statistics.mean(found), 4) for method, found in values.items()}
    return {"set": "mean", "tools": "", "queries": ""} | means


def _differences(rows: Sequence[Json]) -> str:
    by_set: dict[str, Json] = {}
    for row in rows:
        by_set.setdefault(row["set"], {"set": row["set"]})[row["peer"]] = span(row)
    return "\n\n".join(
        [
            "### Recall@5 of `hybrid`, less that of others",
            "With 95 % intervals of paired resamples of the queries; one that holds 0 shows nothing.",
            table(list(by_set.values())),
        ]
    )
