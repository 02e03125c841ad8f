"""One catalogue of up to a million tools in each index: filled, searched, written to, embedded by another model.

Four tenths of the tools are global, five of an organisation `big`, one of `acme`, which asks: it sees half of them. Up
to `--replica-up-to` tools an embedded replica is searched as well; what it finds is exact. Above that PostgreSQL reads
every vector that passes instead (a hundredth as often, for it takes seconds). *recall* is how many of these the lists
find among the best 10 and 100. Requests are real ones where --data is given. "search" is `POST /api/v1/search` in mode
hybrid within the process, without HTTP.

Of the largest size: searches while tools are imported, and while `reindex` gives all of them vectors of another model
(of hashes, for the real one takes 10 ms a tool); what fails or is degraded is counted.

    python -m benchmarks.standing.scale --tools 1000,10000,100000,1000000 --data DATA --json results/scale.json
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import psutil
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index.postgres import _asked
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.postgres.connection import Connection
from skillroute.core.settings import LocalSettings
from skillroute.search.model import SearchRequest
from skillroute.search.plan import tools_where
from skillroute.wiring import Parts
from skillroute.wiring.filling import fill as fill_missing

from benchmarks.corpora.corpus import BASE_TOOLS, BATCH, Corpus, Filler
from benchmarks.harness import arguments, console, fresh_database, numbers, percentiles, print_table, save
from benchmarks.standing.filled import fill_points

ACME = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}))
_OWNERS = (None, "big", None, "big", "acme", "big", None, "big", None, "big")
_BEST = 100
_WARM_UP = 5
_STRATEGIES = ("hierarchical", "direct", "hybrid")
_IMPORTED = 5000

Row = dict[str, Any]
Found = Sequence[IndexHit]


def owner_of(batch: int) -> str | None:
    """Return whose tools a batch of the corpus are."""
    return _OWNERS[batch % len(_OWNERS)]


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
    return {
        "all": IndexFilter(),
        "organisation and type": tools_where(ACME, "tool"),
        "3 of 50 skills": tools_where(ACME, None, skills),  # type: ignore[arg-type]
    }


def timed(ask: Callable[[int], Found], count: int) -> tuple[dict[str, float], list[Found]]:
    """Ask so often, and return percentiles of milliseconds and what was found."""
    times, found = [], []
    for place in range(count):
        started = time.perf_counter()
        found.append(ask(place))
        times.append((time.perf_counter() - started) * 1000.0)
    return percentiles(times[_WARM_UP:]), found


def searched(index: LentIndex, where: Mapping[str, IndexFilter], asked: Sequence[str], vectors: Sequence[Any]) -> Row:
    """Return what an index takes by filter, and what it finds."""
    results: Row = {}
    for name, one in where.items():
        passing = index.count(TOOL_DOCUMENTS, where=one)

        def near(place: int, one: IndexFilter = one) -> Found:
            return index.search(TOOL_DOCUMENTS, vectors[place], where=one, limit=_BEST)

        def words(place: int, one: IndexFilter = one) -> Found:
            return index.search_text(TOOL_DOCUMENTS, asked[place], where=one, limit=_BEST)

        for kind, ask in (("by meaning", near), ("by words", words)):
            times, found = timed(ask, len(asked))
            results[f"{kind}: {name}"] = {"passing": passing, "times": times, "found": found}
    return results


def exact(url: str, where: Mapping[str, IndexFilter], vectors: Sequence[Any], count: int) -> Row:
    """Return the true best by meaning for some of the requests: PostgreSQL reads all that passes, without lists."""
    parts = _parts(url, "postgres", database_statement_timeout_s=300.0)

    def best(one: IndexFilter, vector: Sequence[float]) -> Found:
        def read(connection: Connection) -> list[list[Any]]:
            [[narrowed]] = connection.script(f"SELECT mcp.search_where('{_asked(TOOL_DOCUMENTS, one)}'::jsonb)")
            # Lists are of halves: in this order they are not asked.
            return connection.script(
                f"SELECT p.key, 1 - (p.dense <=> v.asked) FROM (SELECT '{list(vector)}'::vector AS asked OFFSET 0) v, "
                f"mcp.search_vectors p WHERE {narrowed} ORDER BY p.dense <=> v.asked LIMIT {_BEST}"
            )

        return [IndexHit(key, round(score, 6)) for key, score in parts.pool.read(read)]

    try:
        return {
            f"by meaning: {name}": {"found": [best(one, vector) for vector in vectors[:count]]}
            for name, one in where.items()
        }
    finally:
        parts.close()


def recall(found: Sequence[Found], right: Sequence[Found], best: int) -> float:
    """Return how many of the best that are exact were found, on average; ties at the cut count as found."""

    def one(mine: Found, true: Found) -> float:
        least = true[:best][-1].score
        hits = {hit.key for hit in mine} & {hit.key for hit in true if hit.score >= least}
        return min(1.0, len(hits) / len(true[:best]))

    return round(mean(one(mine, true) for mine, true in zip(found, right, strict=False) if true), 4)


def whole(parts: Parts, asked: Sequence[str], strategy: str) -> dict[str, float]:
    """Return percentiles of whole searches in mode hybrid."""

    def ask(place: int) -> Found:
        request = SearchRequest(query=asked[place], mode="hybrid", strategy=strategy)  # type: ignore[arg-type]
        parts.tool_search.search(request, ACME)
        return ()

    return timed(ask, len(asked))[0]


def fill(url: str, corpus: Corpus, data: Path | None, tools: int, processes: int) -> tuple[Row, list[list[float]]]:
    """Write tools, the first ones here and the others side by side; return tools a second, and vectors of the first."""
    started = time.perf_counter()
    first = Filler(url, corpus, owner_of=owner_of)
    first.fill(min(tools, BASE_TOOLS))
    vectors = first.base_vectors
    first.close()
    begins = [batch * BATCH for batch in range(-(-min(tools, BASE_TOOLS) // BATCH), -(-tools // BATCH))]
    if begins:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            each = [(url, corpus.seed, data, vectors, begins[start::processes], tools) for start in range(processes)]
            list(pool.map(_fill_share, each))
    seconds = time.perf_counter() - started
    return {"fill_s": round(seconds, 1), "tools/s": round(tools / seconds)}, vectors


def _fill_share(share: tuple[str, int, Path | None, list[list[float]], list[int], int]) -> None:
    url, seed, data, vectors, begins, tools = share
    filler = Filler(url, Corpus(seed, data), owner_of=owner_of, base_vectors=vectors)
    for start in begins:
        filler.write(range(start, min(start + BATCH, tools)))
    filler.close()


def sizes(parts: Parts) -> Row:
    """Return MiB of tables with their indexes, and of the lists."""
    rows = parts.pool.read(
        lambda c: c.script(
            "SELECT relname, round(pg_total_relation_size(oid) / 1048576.0) FROM pg_class WHERE relnamespace = "
            "'mcp'::regnamespace AND (relkind = 'r' OR relname LIKE 'search\\_lists\\_%') "
            "ORDER BY pg_total_relation_size(oid) DESC LIMIT 12"
        )
    )
    return {str(name): float(size) for name, size in rows}


def postgres_mib(url: str) -> float:
    """Return the memory of all processes of PostgreSQL, what they share counted once (PSS)."""
    return round(
        sum(
            process.memory_full_info().pss
            for process in psutil.process_iter(["name"])
            if (process.info["name"] or "").startswith("postgres")
        )
        / 2**20
    )


class Beside:
    """Searches in a thread while something else runs; what they took, and how many failed or were degraded."""

    def __init__(self, parts: Parts, asked: Sequence[str]) -> None:
        self._parts, self._asked = parts, asked
        self._over = threading.Event()
        self._times: list[float] = []
        self._bad: list[str] = []
        self._thread = threading.Thread(target=self._search)

    def __enter__(self) -> Beside:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _search(self) -> None:
        place = 0
        while not self._over.wait(0.05):
            started = time.perf_counter()
            try:
                request = SearchRequest(query=self._asked[place % len(self._asked)], mode="hybrid", strategy="direct")
                answer = self._parts.tool_search.search(request, ACME)
                self._bad += [str(each) for each in answer.metadata.degraded]
            except Exception as error:  # noqa: BLE001 (what fails is a figure here)
                self._bad.append(f"{type(error).__name__}: {error}")
            self._times.append((time.perf_counter() - started) * 1000.0)
            place += 1

    def row(self, what: str) -> Row:
        """Return the percentiles of what was searched meanwhile."""
        bad = {reason: self._bad.count(reason) for reason in sorted(set(self._bad))}
        return {"beside": what, "searches": len(self._times), **percentiles(self._times), "degraded": bad}


def beside_work(
    url: str,
    corpus: Corpus,
    data: Path | None,
    tools: int,
    asked: Sequence[str],
    vectors: list[list[float]],
    reindexed_up_to: int,
) -> list[Row]:
    """Search while tools are imported, and, of few enough, while all are embedded by another model."""
    begins = list(range(tools, tools + _IMPORTED, BATCH))

    def write() -> None:
        _fill_share((url, corpus.seed, data, vectors, begins, tools + _IMPORTED))

    def reindex() -> None:
        other = _parts(url, "postgres", embedding_provider="hashing", database_statement_timeout_s=300.0)
        try:
            other.reindex(lambda _: None)
            fill_missing(other)
        finally:
            other.close()

    rows = []
    works = {f"import of {_IMPORTED} tools": write}
    if tools <= reindexed_up_to:
        works["reindex to another model"] = reindex
    for what, work in works.items():
        parts = _parts(url, "postgres")
        try:
            with Beside(parts, asked) as beside:
                started = time.perf_counter()
                work()
                seconds = time.perf_counter() - started
        finally:
            parts.close()
        rows.append(beside.row(what) | {"seconds": round(seconds, 1)})
        console.print(rows[-1])
    return rows


def _parts(url: str, index: str, **settings: Any) -> Parts:
    return Parts(LocalSettings(database_url=url, index=index, default_mode="hybrid", **settings))  # type: ignore[arg-type]


def measure(tools: int, corpus: Corpus, asked: Sequence[str], args: Any) -> Row:
    """Fill a database, and search it by each index."""
    with fresh_database() as url:
        result, base = fill(url, corpus, args.data, tools, args.processes)
        console.print(tools, result)
        result["points_s"] = round(fill_points(url, maintenance_work_mem=args.lists_memory), 1)
        console.print(tools, result)
        names = ["embedded", "postgres"] if tools <= args.replica_up_to else ["postgres"]
        result |= {"rows": [], "first_s": {}}
        found: dict[str, Row] = {}
        for index in names:
            parts = _parts(url, index, database_statement_timeout_s=60.0)
            try:
                vectors = [parts.query_embedder.embed(query, parts.embedder.model) for query in asked]
                where = filters(parts)
                started = time.perf_counter()
                with parts.replica.current() as lent:
                    lent.search(TOOL_DOCUMENTS, vectors[0], where=where["all"], limit=_BEST)
                    result["first_s"][index] = round(time.perf_counter() - started, 3)
                    found[index] = searched(lent, where, asked, vectors)
                for strategy in args.strategies:
                    times = whole(parts, asked, strategy)
                    result["rows"].append({"tools": tools, "index": index, "what": f"search, {strategy}", **times})
                result["mib"] = sizes(parts)
            finally:
                parts.close()
        right = found.get("embedded") or exact(url, where, vectors, args.exact)
        for index in names:
            for what, one in found[index].items():
                row = {"tools": tools, "index": index, "what": what, "passing": one["passing"], **one["times"]}
                if index == "postgres" and what in right:
                    row |= {f"recall@{best}": recall(one["found"], right[what]["found"], best) for best in (10, _BEST)}
                result["rows"].append(row)
        result["postgres_mib"] = postgres_mib(url)
        if tools >= args.beside_from:
            result["beside"] = beside_work(url, corpus, args.data, tools, asked, base, args.reindexed_up_to)
    return result


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=numbers, default=[1000, 10_000], help="how many, comma-separated")
    parser.add_argument("--data", type=Path, help="folder of folders with tools.jsonl; real tools come first")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--exact", type=int, default=30, help="of so many requests the true best without a replica")
    parser.add_argument("--replica-up-to", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2, help="that write tools side by side")
    parser.add_argument("--lists-memory", default="", help="maintenance_work_mem of building lists, such as 2GB")
    parser.add_argument("--strategies", nargs="+", default=list(_STRATEGIES))
    parser.add_argument("--beside-from", type=int, default=100_000, help="search beside an import and reindex, too")
    parser.add_argument("--reindexed-up-to", type=int, default=100_000, help="of more, only beside an import")
    args = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    asked = requests(args.data, corpus, args.queries)
    results = {}
    for tools in args.tools:
        results[str(tools)] = measure(tools, corpus, asked, args)
        save(args, "scale", results)
        console.print({name: value for name, value in results[str(tools)].items() if name != "rows"})
        columns = ("tools", "index", "what", "passing", "p50", "p95", "p99", "recall@10", f"recall@{_BEST}")
        print_table("Searches", [{name: row.get(name, "") for name in columns} for row in results[str(tools)]["rows"]])


if __name__ == "__main__":
    main()
