"""Receipts of searches, what was learned of them, and the trace: what each costs a search, and receipts to store.

- *search*: one process, one catalogue, hybrid searches one after the other, each of another request, with receipts and
  without in turn, in blocks. Processor time is that of the whole process, with the thread that writes; of the pairs of
  neighbouring blocks the median difference, and its 95 % interval by resampling. PostgreSQL shares the machine's cores
  and its time is not counted.
- *learned*: the same of an organisation with a live state, and of one without. The state has 2,000 learned requests,
  vectors of requests of the same kind, each of the tool that is found first.
- *trace*: the same over HTTP in this process, through the routes and all middleware, with the trace and without.
- *store*: through the recorder as fast as it takes them, with vectors of 384 numbers and five tools each; as many
  outcomes by one statement; then the half that is older is deleted as the relay does it.

    python -m benchmarks.standing.receipts --json results/receipts.json
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from statistics import median
from typing import Any
from uuid import UUID

from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.http.app import create_app
from skillroute.core.http.traced import Watch
from skillroute.core.postgres.pool import Pool
from skillroute.core.settings import SearchSettings
from skillroute.learning.receipts.recorder import ReceiptRecorder
from skillroute.learning.receipts.repository import ReceiptRepository, add_receipts
from skillroute.learning.receipts.rows import RowMaker
from skillroute.search.model import SearchRequest
from skillroute.search.receipts import SearchedText, SearchReceipt, Shown
from skillroute.wiring import Parts

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import arguments, fresh_database, percentiles, print_table, save

Row = dict[str, Any]

_DAYS = 30


@dataclass(slots=True)
class Block:
    """The searches of one block: each one's wall time, and the processor time of all."""

    whole_ms: list[float]
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Side:
    """Who searches, and whether receipts are kept."""

    caller: Caller = LAPTOP
    keeps: bool = False


def block(parts: Parts, queries: Sequence[str], side: Side) -> Block:
    """Search, and have everything written that was noted."""
    whole_ms = []
    before = time.process_time()
    for query in queries:
        begun = time.perf_counter()
        request = SearchRequest(query=query, mode="hybrid")
        parts.tool_search.search(request, side.caller, door="http" if side.keeps else None)
        whole_ms.append(1000.0 * (time.perf_counter() - begun))
    if parts.receipts is not None and side.keeps:
        parts.receipts.flush()
    return Block(whole_ms, 1000.0 * (time.process_time() - before) / len(queries))


def in_turn(
    parts: Parts, sides: Mapping[str, Side], queries: Iterator[str], rounds: int, size: int, seed: int
) -> list[Row]:
    """Search as two sides in turn; return a row for each, and one of how much more the first takes."""
    return compared(
        lambda name: block(parts, list(islice(queries, size)), sides[name]), list(sides), rounds, size, seed
    )


def compared(ask: Callable[[str], Block], sides: Sequence[str], rounds: int, size: int, seed: int) -> list[Row]:
    """Ask as two sides in turn; return a row for each, and one of how much more the first takes."""
    found: dict[str, list[Block]] = {name: [] for name in sides}
    for name in sides:
        ask(name)
    for number in range(rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            found[name].append(ask(name))
    rows = [
        {
            "searches": name,
            "count": rounds * size,
            "cpu_ms": round(median(each.cpu_ms for each in blocks), 3),
            "whole_ms": percentiles([one for each in blocks for one in each.whole_ms]),
        }
        for name, blocks in found.items()
    ]
    more = [100.0 * (one.cpu_ms / other.cpu_ms - 1.0) for one, other in zip(*found.values(), strict=True)]
    chance = random.Random(seed)
    again = sorted(median(chance.choices(more, k=len(more))) for _ in range(2000))
    return [*rows, {"more cpu, %": round(median(more), 2), "from": round(again[50], 2), "to": round(again[-51], 2)}]


def teach(parts: Parts, queries: Sequence[str], org_id: str) -> None:
    """Store a live state: of each request that its first tool serves it."""
    model = parts.query_embedder.model()
    assert model is not None
    rows = []
    for query in queries:
        tool = parts.tool_search.search(SearchRequest(query=query, limit=1), LAPTOP, door=None).tools[0].tool_id
        rows.append({"tool": tool, "vector": to_bytes(parts.query_embedder.embed(query, model)).hex()})
    statement = f"""
        WITH state AS (INSERT INTO mcp.learned_states (org_id, model, is_live, was_better, report)
                       VALUES ('{org_id}', '{model}', true, true, '{{}}') RETURNING id)
        INSERT INTO mcp.learned_requests (state_id, tool_id, nth, vector, share, words, searches, callers)
        SELECT state.id, r.tool, row_number() OVER (PARTITION BY r.tool), decode(r.vector, 'hex'), 0.8, '{{}}', 3, 2
        FROM state, jsonb_to_recordset($rows${json.dumps(rows)}$rows$::jsonb) AS r (tool bigint, vector text)"""
    _script(parts.pool, statement)


def searches(
    url: str, queries: Iterator[str], rounds: int, size: int, seed: int, requests: int
) -> tuple[list[Row], list[Row]]:
    """Search with receipts and without, then with what was learned and without."""
    parts = Parts(SearchSettings(database_url=url))
    try:
        kept = {"with receipts": Side(keeps=True), "without": Side()}
        receipts = in_turn(parts, kept, queries, rounds, size, seed)
        teach(parts, list(islice(queries, requests)), "acme")
        learned = {"with a live state": Side(Caller(org_id="acme")), "without": Side(Caller(org_id="globex"))}
        return receipts, in_turn(parts, learned, queries, rounds, size, seed)
    finally:
        parts.close()


def traced(url: str, queries: Iterator[str], rounds: int, size: int, seed: int) -> list[Row]:
    """Search over HTTP with the trace and without, in turn; neither keeps receipts."""
    sides: dict[str, tuple[Parts, TestClient]] = {}
    for name, trace in (("with the trace", "on"), ("without", "off")):
        parts = Parts(SearchSettings(database_url=url, trace=trace, receipts="off", auth="none"))
        routers, use_cases = parts.served("search")
        app = create_app(routers, access=parts.access, use_cases=use_cases, trace=partial(_watch_of, parts))
        sides[name] = parts, TestClient(app)

    def ask(name: str) -> Block:
        parts, client = sides[name]
        whole_ms = []
        before = time.process_time()
        for query in islice(queries, size):
            begun = time.perf_counter()
            client.post("/api/v1/search", json={"query": query, "mode": "hybrid"}).raise_for_status()
            whole_ms.append(1000.0 * (time.perf_counter() - begun))
        if parts.tracing.events is not None:
            parts.tracing.events.flush()
        return Block(whole_ms, 1000.0 * (time.process_time() - before) / size)

    try:
        return compared(ask, list(sides), rounds, size, seed)
    finally:
        for parts, client in sides.values():
            client.close()
            parts.close()


def _watch_of(parts: Parts) -> Watch:
    return parts.tracing.watch


def made_up(count: int, queries: Iterator[str], seed: int) -> Iterator[SearchReceipt]:
    """Yield receipts of searches over twice the days that they are kept."""
    chance = random.Random(seed)
    model = EmbeddingModel("tool-minilm-l6-int8-v1", 384)
    now = datetime.now(UTC)
    vectors = [[chance.gauss(0.0, 0.05) for _ in range(model.dimension)] for _ in range(100)]
    texts = list(islice(queries, 1000))
    for number in range(count):
        shown = [Shown(chance.randrange(1, 1266), f"{chance.getrandbits(256):064x}", chance.random()) for _ in range(5)]
        searched = SearchedText(chance.choice(texts), chance.choice(vectors), shown, no_match=False)
        caller = Caller(org_id=f"org{number % 10}", name=f"caller{number % 997}")
        at = now - timedelta(days=2 * _DAYS * chance.random())
        yield SearchReceipt(UUID(int=chance.getrandbits(128)), caller, "http", at, model, [searched])


def stored(url: str, count: int, queries: Iterator[str], seed: int) -> Row:
    """Write receipts and outcomes, and delete those that are too old."""
    with _opened(url) as pool:
        recorder = ReceiptRecorder(RowMaker(True, "administrators"), lambda rows: add_receipts(pool, rows))
        begun, cpu = time.perf_counter(), time.process_time()
        for number, receipt in enumerate(made_up(count, queries, seed)):
            recorder.note(receipt)
            if number % 1000 == 999:
                recorder.flush()
        recorder.flush()
        row: Row = {"receipts": count, "written_s": round(time.perf_counter() - begun, 1)}
        row["cpu_ms_each"] = round(1000.0 * (time.process_time() - cpu) / count, 3)
        recorder.close()
        _script(pool, _OUTCOMES)
        row["receipts_mb"], row["outcomes_mb"] = (_size_mb(pool, table) for table in ("receipts", "outcomes"))
        begun, runs, gone = time.perf_counter(), 0, 0
        while pruned := pool.transact(lambda session: ReceiptRepository(session).prune(days=_DAYS)):
            runs, gone = runs + 1, gone + pruned
        took = time.perf_counter() - begun
        return row | {"deleted": gone, "deleted_s": round(took, 2), "runs": runs}


_OUTCOMES = """
INSERT INTO mcp.outcomes (search_id, tool_id, org_id, caller, may_teach, outcome, source, reported_at)
SELECT search_id, (shown -> 0 ->> 0)::bigint, org_id, caller, may_teach, 'succeeded', 'program', asked_at
FROM mcp.receipts
"""


@contextmanager
def _opened(url: str) -> Iterator[Pool]:
    pool = Pool(url, statement_timeout_s=60.0)
    try:
        yield pool
    finally:
        pool.close()


def _script(pool: Pool, sql: str) -> None:
    pool.transact(lambda connection: connection.script(sql))


def _size_mb(pool: Pool, table: str) -> float:
    with pool.borrowed() as connection:
        [[size]] = connection.script(f"SELECT pg_total_relation_size('mcp.{table}')")
    return round(size / 1e6, 1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=1265)
    parser.add_argument("--rounds", type=int, default=30, help="of a block with receipts and one without (default: 30)")
    parser.add_argument("--block", type=int, default=50, help="searches of a block (default: 50)")
    parser.add_argument("--receipts", type=int, default=100_000, help="to store (default: 100,000)")
    parser.add_argument("--requests", type=int, default=2000, help="that are learned (default: 2,000)")
    args = parser.parse_args()
    corpus = Corpus(args.seed, None)
    queries = iter(corpus.queries(6 * (args.rounds + 1) * args.block + args.requests + 1000))
    with fresh_database() as url:
        filler = Filler(url, corpus)
        filler.fill(args.tools)
        filler.close()
        searched, learned = searches(url, queries, args.rounds, args.block, args.seed, args.requests)
        watched = traced(url, queries, args.rounds, args.block, args.seed)
        kept = stored(url, args.receipts, queries, args.seed)
    print_table("Searches with receipts and without, in turn", searched[:2])
    print_table("More processor time of the process with receipts", searched[2:])
    print_table("Searches with what was learned and without, in turn", learned[:2])
    print_table("More processor time of the process with what was learned", learned[2:])
    print_table("Searches over HTTP with the trace and without, in turn", watched[:2])
    print_table("More processor time of the process with the trace", watched[2:])
    print_table("Receipts, and as many outcomes", [kept])
    save(args, "receipts", {"searches": searched, "learned": learned, "traced": watched, "stored": kept})


if __name__ == "__main__":
    main()
