"""One catalogue, searched in each index: by meaning with the filters that searches have, by words, and whole searches.

Four tenths of the tools are global, five of an organisation `big`, one of `acme`, which asks: it sees half of them. The
replica reads every vector, so what it finds is exact; *recall* is how many of these PostgreSQL finds among the best 10
and the best 100. Requests are real ones where --data is given. "search" is `POST /api/v1/search` in mode hybrid within
the process, without HTTP; "write" is what a document costs a writer where PostgreSQL is searched, beside what it costs
where it is not. There is no Qdrant server here: what is said of one elsewhere was measured with doubles.

    python benchmarks/indexes.py --tools 1000,10000,100000 --data ../shared/data --json results/indexes.json
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from corpus import Corpus, Filler
from filled import fill_points
from harness import arguments, console, fresh_database, numbers, percentiles, print_table, save
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.settings import LocalSettings
from skillroute.search.model import SearchRequest
from skillroute.search.plan import tools_where
from skillroute.wiring import Parts

_ACME = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}))
_OWNERS = (None, "big", None, "big", "acme", "big", None, "big", None, "big")
_BEST = 100
_WARM_UP = 5
_BATCH = 500

Row = dict[str, Any]
Ask = Callable[[int], Sequence[IndexHit]]


def requests(data: Path | None, corpus: Corpus, count: int) -> list[str]:
    """Return requests: of the set tool-requests, else made up."""
    file = None if data is None else data / "tool-requests" / "queries.jsonl"
    if file is None or not file.exists():
        return list(corpus.queries(count))
    queries = [json.loads(line)["query"] for line in file.read_text(encoding="utf-8").splitlines()]
    return random.Random(corpus.seed).sample(queries, count)


def filters(parts: Parts) -> dict[str, IndexFilter]:
    """Return the filters of searches, by name."""
    rows = parts.pool.read(lambda c: c.script("SELECT key FROM mcp.skill_categories ORDER BY key"))
    # Six of a hundred have as large a share as three of fifty.
    skills = [str(key) for (key,) in rows][: max(1, 6 * len(rows) // 100)]
    everything = tools_where(_ACME)
    return {
        "all": IndexFilter(),
        "organisation and type": tools_where(_ACME, "tool"),
        "3 of 50 skills": IndexFilter({**everything.any_of, "skill_keys": skills}),
    }


def timed(ask: Ask, count: int) -> tuple[dict[str, float], list[Sequence[IndexHit]]]:
    """Ask so often, and return percentiles of milliseconds and what was found."""
    times, found = [], []
    for place in range(count):
        started = time.perf_counter()
        found.append(ask(place))
        times.append((time.perf_counter() - started) * 1000.0)
    return percentiles(times[_WARM_UP:]), found


def searched(index: LentIndex, parts: Parts, asked: Sequence[str], vectors: Sequence[Any]) -> dict[str, Row]:
    """Return what an index takes by filter, and what it finds."""
    results: dict[str, Row] = {}
    for name, where in filters(parts).items():
        passing = index.count(TOOL_DOCUMENTS, where=where)

        def near(place: int, where: IndexFilter = where) -> list[IndexHit]:
            return index.search(TOOL_DOCUMENTS, vectors[place], where=where, limit=_BEST)

        def words(place: int, where: IndexFilter = where) -> list[IndexHit]:
            return index.search_text(TOOL_DOCUMENTS, asked[place], where=where, limit=_BEST)

        for kind, ask in (("by meaning", near), ("by words", words)):
            times, found = timed(ask, len(asked))
            results[f"{kind}: {name}"] = {"passing": passing, "times": times, "found": found}
    return results


def recall(found: Sequence[Sequence[IndexHit]], exact: Sequence[Sequence[IndexHit]], best: int) -> float:
    """Return how many of the best that are exact were found, on average; ties at the cut count as found."""

    def one(mine: Sequence[IndexHit], right: Sequence[IndexHit]) -> float:
        least = right[:best][-1].score
        hits = {hit.key for hit in mine} & {hit.key for hit in right if hit.score >= least}
        return min(1.0, len(hits) / len(right[:best]))

    return mean(one(mine, right) for mine, right in zip(found, exact, strict=True) if right)


def whole(parts: Parts, asked: Sequence[str]) -> dict[str, float]:
    """Return percentiles of whole searches in mode hybrid."""

    def ask(place: int) -> Sequence[IndexHit]:
        parts.tool_search.search(SearchRequest(query=asked[place], mode="hybrid"), _ACME)
        return ()

    return timed(ask, len(asked))[0]


def measure(tools: int, corpus: Corpus, asked: Sequence[str]) -> Row:
    """Fill a database, and search it by each index."""
    with fresh_database() as url:
        filler = Filler(url, corpus, owner_of=lambda batch: _OWNERS[batch % len(_OWNERS)])
        fill_s = filler.fill(tools - _BATCH)
        store_ms = _store_ms(filler, tools)
        points_s = fill_points(url)
        processes = {
            index: Parts(LocalSettings(database_url=url, index=index, default_mode="hybrid"))  # type: ignore[arg-type]
            for index in ("embedded", "postgres")
        }
        try:
            compared = _compared(tools, processes, asked)
        finally:
            for parts in processes.values():
                parts.close()
        with_points_ms = _store_ms(filler, tools + _BATCH)
        filler.close()
    times = {"fill_s": round(fill_s, 1), "points_s": round(points_s, 1)}
    return {**times, "store_ms": store_ms, "store_with_points_ms": with_points_ms, **compared}


def _store_ms(filler: Filler, tools: int) -> float:
    """Write tools up to so many, and return the milliseconds of the transactions."""
    before = filler.store_s
    filler.fill(tools)
    return round((filler.store_s - before) * 1000.0, 1)


def _compared(tools: int, processes: Mapping[str, Parts], asked: Sequence[str]) -> Row:
    found: dict[str, dict[str, Row]] = {}
    rows: list[Row] = []
    first_s: dict[str, float] = {}
    sizes = processes["postgres"].pool.read(
        lambda c: c.script(
            "SELECT relname, round(pg_total_relation_size(oid) / 1048576.0) FROM pg_class "
            "WHERE relnamespace = 'mcp'::regnamespace AND relkind = 'r' AND relname LIKE 'search\\_%' AND reltuples > 1"
        )
    )
    for index, parts in processes.items():
        vectors = [parts.query_embedder.embed(query, parts.embedder.model) for query in asked]
        started = time.perf_counter()
        with parts.replica.current() as lent:
            lent.search(TOOL_DOCUMENTS, vectors[0], where=tools_where(_ACME), limit=_BEST)
            first_s[index] = round(time.perf_counter() - started, 3)
            found[index] = searched(lent, parts, asked, vectors)
        rows.append({"tools": tools, "index": index, "what": "search", "passing": tools, **whole(parts, asked)})
    for what, one in found["embedded"].items():
        other = found["postgres"][what]
        recalls = {f"recall@{best}": round(recall(other["found"], one["found"], best), 4) for best in (10, _BEST)}
        for index, result, extra in (("embedded", one, {}), ("postgres", other, recalls)):
            rows.append(
                {"tools": tools, "index": index, "what": what, "passing": result["passing"], **result["times"], **extra}
            )
    return {"first_s": first_s, "mib": {name: float(size) for name, size in sizes}, "rows": rows}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=numbers, default=[1000, 10_000], help="how many, comma-separated")
    parser.add_argument("--data", type=Path, help="folder of folders with tools.jsonl; real tools come first")
    parser.add_argument("--queries", type=int, default=200)
    args = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    asked = requests(args.data, corpus, args.queries)
    results = {str(tools): measure(tools, corpus, asked) for tools in args.tools}
    for tools, result in results.items():
        console.print(f"{tools} tools: { ({name: value for name, value in result.items() if name != 'rows'}) }")
    columns = ("tools", "index", "what", "passing", "p50", "p95", "p99", "recall@10", f"recall@{_BEST}")
    shown = [{name: row.get(name, "") for name in columns} for result in results.values() for row in result["rows"]]
    print_table("Searches by index, milliseconds", shown)
    save(args, "indexes", results)


if __name__ == "__main__":
    main()
