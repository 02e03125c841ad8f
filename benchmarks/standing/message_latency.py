"""Latency of message search by kind of query, over HTTP and in the process; writing mail, building the index, memory.

The corpus is that of message_filler.py. Each kind runs for some seconds after one of warm-up: over HTTP on one kept
connection in a closed loop from a process of its own, as in latency.py, and again as calls of `MessageSearch` in this
process, without HTTP; `cpu_ms` is that process's time on the processor, PostgreSQL's left out, which tells what other
work on the machine hides. Pages have 50 results, the default.

- ordinary queries are two to eight words that follow each other in a message; all different, so each is embedded.
- common ones are three to eight of the words that most messages have, among those that are looked for at all.
- lexical is served by the index, fts5 by a server that is told to (`SKILLROUTE_SEARCH_ENGINE=fts5`).
- filters: an ordinary lexical query within a product, two levels of importance and half a year.
- scope: an ordinary lexical query with `explain`, of an operator and as an agent of four projects looks at it.
- recency: ordinary lexical queries, newest first. listing: no text, the inbox of an agent or a project, newest first.
- page 10, page 21: lexical with common words, from the 451st and the 1,001st result on; the latter lies behind the
  pool that scores are made from, so that everything is ranked for it. Where no query finds so many, the kind is left
  out. A kind without answers takes longer than the run.

    python -m benchmarks.standing.message_latency --messages 10000 --json results/message_latency_10000.json
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from skillroute.core.caller import LAPTOP
from skillroute.core.settings import SearchSettings
from skillroute.mail.repository import MailRepository
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch
from skillroute.mail.text import query_terms
from skillroute.wiring import Parts

from benchmarks.corpora.message_corpus import YEAR_START_US, YEAR_US, agents, generate, products, projects
from benchmarks.corpora.message_filler import EMBEDDED, add_corpus_options, filled
from benchmarks.harness import (
    Server,
    arguments,
    drive,
    fresh_database,
    percentiles,
    print_table,
    progress,
    save,
    serving,
    words,
    write_requests,
)
from benchmarks.standing.app_process import add_server_options, server_options

MAIL = "/api/v1/mail"
_SEARCH = "/api/v1/search/messages"
_QUERIES = 3000  # of a kind; more than one run sends
_SAMPLED = 2000  # messages that queries are taken from
_COMMON_WORDS = 20
_WARMUP_S = 1.0
_BATCH = 500
_POSTGRES = {"SKILLROUTE_SEARCH_ENGINE": "fts5"}

Row = dict[str, Any]
Bodies = list[Row]


def texts(messages: int, seed: int) -> tuple[list[str], list[str]]:
    """Return ordinary and common queries."""
    rng = random.Random(seed)
    bodies = [message["body"] for message in generate(min(messages, _SAMPLED), seed)]
    split = [body.split() for body in bodies]
    having = Counter(term for body in bodies for term in set(query_terms(body)))
    common = [word for word, _ in having.most_common(_COMMON_WORDS)]

    def phrase() -> str:
        body = rng.choice(split)
        start = rng.randrange(len(body) - 8)
        return " ".join(body[start : start + rng.randint(2, 8)])

    ordinary = {text for text in (phrase() for _ in range(4 * _QUERIES)) if re.search(r"\w", text)}
    many = {" ".join(rng.sample(common, rng.randint(3, 8))) for _ in range(_QUERIES)}
    return rng.sample(sorted(ordinary), min(len(ordinary), 4 * _QUERIES)), sorted(many)


def kinds_of_queries(args: Any, parts: Parts) -> dict[str, Bodies]:
    """Return requests by kind, without those that fts5 alone serves."""
    ordinary, common = texts(args.messages, args.seed)
    shares = iter(ordinary[at :: len(ordinary) // _QUERIES] for at in range(len(ordinary) // _QUERIES))
    rng = random.Random(args.seed)
    product_ids = parts.database.read(lambda s: [p.id for p in MailRepository(s).products(None, None, limit=100)[0]])
    project_ids = parts.database.read(lambda s: [p.id for p in MailRepository(s).projects(None, None, limit=100)[0]])
    names = [agent["name"] for agent in agents()]
    lexical = next(shares)

    def within(text: str) -> Row:
        half = {"min_ts": YEAR_START_US + rng.randrange(YEAR_US // 2)}
        return {"text": text, "product_id": rng.choice(product_ids), "importance": ["normal", "high"]} | {
            "time_range": half | {"max_ts": half["min_ts"] + YEAR_US // 2}
        }

    def scoped(text: str) -> Row:
        return {"text": text, "explain": True, "scope": {"caller_scoped": {"caller_agent": rng.choice(names)}}}

    inbox = [{"agent_name": name, "direction": "inbox", "ranking": "recency"} for name in names]
    project = [{"project_id": id_, "ranking": "recency"} for id_ in project_ids]
    return {
        "lexical": [{"text": text} for text in lexical],
        "lexical, common": [{"text": text} for text in common],
        "lexical, filters": [within(text) for text in lexical],
        "lexical, explain": [{"text": text, "explain": True} for text in lexical],
        "lexical, scope": [scoped(text) for text in lexical],
        "lexical, recency": [{"text": text, "ranking": "recency"} for text in lexical],
        "lexical, page 10": _deep(parts, common, 450),
        "lexical, page 21": _deep(parts, common, 1000),
        "semantic": [{"text": text, "mode": "semantic"} for text in next(shares)],
        "hybrid": [{"text": text, "mode": "hybrid"} for text in next(shares)],
        "hybrid, common": [{"text": text, "mode": "hybrid"} for text in common],
        "listing": [request for pair in zip(cycle(project), inbox, strict=False) for request in pair],
    }


def _deep(parts: Parts, common: Sequence[str], passed: int) -> Bodies:
    """Return requests for the page after so many results; of queries that find so many."""
    bodies = []
    for text in common[:100]:
        request = MessageSearchRequest.model_validate({"text": text, "limit": passed})
        cursor = parts.messages.search(request, LAPTOP).next_cursor
        bodies += [{"text": text, "cursor": cursor}] if cursor else []
    return bodies


def postgres_queries(kinds: dict[str, Bodies]) -> dict[str, Bodies]:
    """Return the requests that are put to PostgreSQL too; cursors are the engine's own, so none with one."""
    names = ("lexical", "lexical, common", "lexical, filters", "lexical, recency")
    return {name.replace("lexical", "fts5"): kinds[name] for name in names}


def over_http(server: Server, kinds: dict[str, Bodies], seconds: float) -> list[Row]:
    """Measure each kind on one connection."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, progress() as bar:
        for kind, bodies in bar.track(kinds.items(), total=len(kinds), description="HTTP"):
            lines = [[{"kind": kind, "method": "POST", "path": _SEARCH, "body": body}] for body in bodies]
            if not lines:
                continue
            measured = drive(server, write_requests(Path(folder) / "requests.jsonl", lines), 1, seconds)
            rows.append(_row("HTTP", kind, measured["whole_ms"].get(kind, []), measured["errors"]))
    return rows


def in_process(search: MessageSearch, kinds: dict[str, Bodies], seconds: float) -> list[Row]:
    """Measure each kind without HTTP: from the request as an object to the answer's JSON."""
    rows = []
    for kind, bodies in kinds.items():
        requests = [MessageSearchRequest.model_validate(body) for body in bodies]
        if requests:
            whole_ms, cpu_ms = _timed(lambda request: search(request, LAPTOP).to_json(), requests, seconds)
            rows.append(_row("in process", kind, whole_ms, 0) | {"cpu_ms": percentiles(cpu_ms)})
    return rows


def _timed(call: Callable[[Any], object], requests: Sequence[Any], seconds: float) -> tuple[list[float], list[float]]:
    """Call for some seconds after the warm-up; return milliseconds by the clock, and of this process's processor."""
    begin = time.perf_counter() + _WARMUP_S
    whole_ms: list[float] = []
    cpu_ms: list[float] = []
    for request in cycle(requests):
        started, cpu_s = time.perf_counter(), time.process_time()
        if started >= begin + seconds:
            break
        call(request)
        if started >= begin:
            whole_ms.append((time.perf_counter() - started) * 1000.0)
            cpu_ms.append((time.process_time() - cpu_s) * 1000.0)
    return whole_ms, cpu_ms


def _row(where: str, kind: str, milliseconds: Sequence[float], errors: int) -> Row:
    about = {"queries": kind, "answers": len(milliseconds), "errors": errors}
    return {"through": where, **about, "ms": percentiles(milliseconds) if milliseconds else {}}


def index_build(server: Server, common: Bodies) -> Row:
    """Tell how long a fresh server takes to build its index, and its memory before, with it, and after searches."""
    before = server.memory_mib()["now"]
    started = time.perf_counter()
    server.wait_for_index()
    build_s = time.perf_counter() - started
    built = server.memory_mib()["now"]
    for body in common[:200]:
        server.request("POST", _SEARCH, body | {"mode": "hybrid"})
    after = server.memory_mib()
    memory = {"started_mib": before, "with_index_mib": built, "after_searches_mib": after["now"]}
    return {"build_s": round(build_s, 3), **memory, "peak_mib": after["peak"]}


def writing(args: Any) -> list[Row]:
    """PUT messages four times over: new, unchanged, with other texts, and with another importance only."""
    messages = list(generate(args.written, args.seed))
    later = [message | {"body": message["body"] + " Done by noon."} for message in messages]
    urgent = [message | {"importance": "urgent", "ack_required": not message["ack_required"]} for message in later]
    rounds = {"new": messages, "unchanged": messages, "text changed": later, "importance changed": urgent}
    rows = []
    with fresh_database() as url, serving(url) as server:
        for kind, things in (("projects", projects()), ("products", products()), ("agents", agents())):
            server.request("PUT", f"{MAIL}/{kind}", {kind: things})
        server.request("GET", "/ready")
        for name, sent in rounds.items():
            started, cpu_s, status = time.perf_counter(), server.cpu_s(), Counter[str]()
            for start in range(0, len(sent), _BATCH):
                answer = server.request("PUT", f"{MAIL}/messages", {"messages": sent[start : start + _BATCH]})
                status.update({name: answer[name] for name in ("created", "updated", "unchanged", "failed")})
            rate = round(len(sent) / (time.perf_counter() - started), 1)
            rows.append(
                {"messages": name, "messages/s": rate, "server_cpu_s": round(server.cpu_s() - cpu_s, 2), **status}
            )
    return rows


def main() -> None:
    parser = arguments(__doc__)
    add_corpus_options(parser)
    parser.add_argument("--kinds", type=words, default=None, help="of queries; all by default")
    parser.add_argument("--seconds", type=float, default=5.0, help="each run, after a second of warm-up")
    parser.add_argument("--written", type=int, default=1000, help="messages to write through PUT; 0 leaves it out")
    add_server_options(parser)
    args = parser.parse_args()
    with filled(args) as url:
        parts = Parts(SearchSettings(database_url=url))
        kinds = kinds_of_queries(args, parts)
        common, by_postgres = kinds["lexical, common"], postgres_queries(kinds)
        if args.kinds:
            kinds, by_postgres = (
                {k: v for k, v in queries.items() if k in args.kinds} for queries in (kinds, by_postgres)
            )
        full_text = MessageSearch(parts.replica, parts.query_embedder, parts.database, setting="postgres")
        rows = in_process(parts.messages.search, kinds, args.seconds) + in_process(full_text, by_postgres, args.seconds)
        parts.close()
        with serving(url, *server_options(args)) as server:
            build = index_build(server, common)
            rows += over_http(server, kinds, args.seconds)
        with serving(url, *server_options(args), environment=_POSTGRES) as server:
            rows += over_http(server, by_postgres, args.seconds)
    results: Row = {"messages": args.messages, "embedded": EMBEDDED, "rows": rows, "index": build}
    shown = [{n: " / ".join(f"{ms:.1f}" for ms in v.values()) if "ms" in n else v for n, v in r.items()} for r in rows]
    print_table(f"{args.messages} messages; milliseconds as p50 / p95 / p99", shown)
    print_table("Index", [build])
    if args.written:
        results["writing"] = writing(args)
        print_table("Writing", results["writing"])
    save(args, "message_latency", results)


if __name__ == "__main__":
    main()
