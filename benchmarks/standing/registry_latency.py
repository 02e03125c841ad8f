"""Latency of registry search: POST /api/v1/search/registry over HTTP on loopback, three of each type, by kind of query.

The corpus is that of registry_corpus.py; the client loads the server in a closed loop from a process of its own, as in
latency.py. "ordinary" queries are questions of people, up to twelve words, all different, so each is embedded;
"repeated" are 50 of them in turn. The other kinds are what an ordinary query must not be slower than: a thousand words,
what a regular expression or SQL would do harm with, stop words only, emoji, Arabic and Hebrew. "model away" is ordinary
queries to a server without its model, which answers lexically. "common" is the worst of ordinary queries: three to
eight words that 4 to 50 % of the tools have, and 27 to 97 % of the servers in some tool.

    python -m benchmarks.standing.registry_latency --servers 1000 --data DATA --json results/registry_latency_1000.json
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillroute.core.embedding.packaged import DEFAULT_MODEL, models_dir
from skillroute.registry.search.query import STOP_WORDS
from skillroute_local.loopback import free_port

from benchmarks.corpora.registry_corpus import add_corpus_options, filled, read_lines
from benchmarks.harness import (
    HERE,
    SEARCH,
    STANDING,
    Server,
    arguments,
    child_environment,
    console,
    drive,
    numbers,
    percentiles,
    print_table,
    progress,
    save,
    serving,
    words,
    write_requests,
)
from benchmarks.standing.app_process import add_server_options, server_options

_STAGES = ("query_embedding", "vector_search", "keyword_search", "tool_search", "load", "index_sync", "total")
_MAX_WORDS = 12
_MADE = 600  # of each kind that is made up; more than one run sends
_REPEATED = 50
_MODEL = models_dir() / DEFAULT_MODEL / "model.json"
_READY_WITHIN_S = 120.0

_REGEX = (
    r".*",
    r"(a+)+$",
    r"^[a-z]{2,}",
    r"\w*\W*",
    r"(?=.*data)(?=.*user)",
    r"[[:alpha:]]+|%",
    r"\\d{3}\.",
    r"a|e|i|o|u",
)
_SQL = (
    "'; DROP TABLE mcp.registry_entities; -- {word}",
    "' OR '1'='1' /* {word} */",
    "SELECT * FROM mcp.tools WHERE name LIKE '%{word}%' UNION SELECT password FROM users",
    "{word}'); DELETE FROM mcp.registry_words WHERE (1=1",
    "%{word}% ESCAPE '_' || pg_sleep(10)",
)
_EMOJI = "😀🎉🚀🔥🐘📦🗂️📅✉️🌍🎵💰🧪🧭👩‍💻🇪🇺❤️‍🔥"
_RIGHT_TO_LEFT = re.findall(
    r"\w+",
    "ابحث عن خادم لإدارة الملفات والتقارير وجدولة الاجتماعات مع الفريق في المكتب الجديد "
    "אני צריך כלי לחיפוש מסמכים ולשליחת הודעות לכל הצוות לפני סוף השבוע הקרוב",
)
_COMMON = re.findall(
    r"\w+", "retrieve information specific given calculate based list data location create user system time status"
)

Row = dict[str, Any]


def questions(data: Path, rng: random.Random) -> list[str]:
    """Return what people ask in up to twelve words: the judged queries, and those of metatool, sealtools and bfcl."""
    texts = [line["query"] for line in read_lines(HERE / "registry_queries.jsonl")]
    for name in ("metatool", "sealtools", "bfcl"):
        texts += [line["query"] for line in read_lines(data / name / "queries.jsonl")]
    short = {text.strip() for text in texts if 0 < len(text.split()) <= _MAX_WORDS}
    return rng.sample(sorted(short), len(short))


def kinds_of_queries(data: Path, rng: random.Random) -> dict[str, list[str]]:
    """Return queries by kind; within a kind all are different, but for those that are repeated."""
    ordinary = questions(data, rng)
    vocabulary = sorted({word for text in ordinary for word in re.findall(r"[a-z]{3,9}", text.lower())})
    stop_words = sorted(STOP_WORDS)

    def some(of: Sequence[str], least: int, most: int) -> str:
        return " ".join(rng.choices(of, k=rng.randint(least, most)))

    def made(make: Any) -> list[str]:
        return list(dict.fromkeys(make() for _ in range(_MADE)))

    return {
        "ordinary": ordinary[_REPEATED:],
        "repeated": ordinary[:_REPEATED],
        "common": made(lambda: some(_COMMON, 3, 8)),
        "1,000 words": made(lambda: some(vocabulary, 1000, 1000)[:10_000]),
        "regex": made(lambda: f"{rng.choice(_REGEX)} {rng.choice(vocabulary)} {rng.choice(_REGEX)}"),
        "sql": made(lambda: rng.choice(_SQL).format(word=rng.choice(vocabulary))),
        "stop words": made(lambda: some(stop_words, 4, 10)),
        "emoji": made(lambda: "".join(rng.choices(_EMOJI, k=rng.randint(3, 12))).strip() or "🚀"),
        "right to left": made(lambda: some(_RIGHT_TO_LEFT, 3, 8)),
    }


def search_request(query: str) -> Row:
    """Return a search as `client.py` sends it."""
    return {"kind": "search", "method": "POST", "path": f"{SEARCH}/registry", "body": {"query": query}}


def load(server: Server, queries: Sequence[str], concurrency: int, seconds: float) -> Row:
    """Load the server with searches and return what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        requests = write_requests(Path(folder) / "requests.jsonl", [[search_request(query)] for query in queries])
        measured = drive(server, requests, concurrency, seconds)
    whole_ms = measured["whole_ms"].get("search", [])
    return {
        "answers": len(whole_ms),
        "errors": measured["errors"],
        "searches/s": round(len(whole_ms) / seconds, 1),
        "whole_ms": percentiles(whole_ms),
        "stages_ms": {stage: percentiles(measured["stages_ms"].get(stage, [])) for stage in _STAGES},
        "server_cpu_s": measured["server_cpu_s"],
    }


def with_model(args: Any, url: str, kinds: dict[str, list[str]]) -> list[Row]:
    """Measure every kind: ordinary and repeated ones at each concurrency, the others on one connection."""
    runs = [(kind, c) for c in args.concurrency for kind in args.kinds if c == 1 or kind in {"ordinary", "repeated"}]
    rows, used = [], 0
    with serving(url, *server_options(args)) as server, progress() as bar:
        server.wait_for_index()
        for kind, concurrency in bar.track(runs, description="HTTP"):
            queries = kinds[kind]
            if kind == "ordinary":  # each run has queries that no run before it had
                share = len(queries) // len(args.concurrency)
                queries = queries[used : used + share]
                used += share
            rows.append(
                {"queries": kind, "connections": concurrency, **load(server, queries, concurrency, args.seconds)}
            )
        memory = server.memory_mib()
    console.print(f"server: {memory['now']} MiB now, {memory['peak']} at its highest")
    return rows


def without_model(args: Any, url: str, kinds: dict[str, list[str]]) -> list[Row]:
    """Measure ordinary queries while the model is away: its description is there, and nothing else of it."""
    rows = []
    with _model_away(url, server_options(args)) as server:
        server.wait_for_index()
        for concurrency in args.concurrency:
            for kind in ("ordinary", "common") if concurrency == 1 else ("ordinary",):
                answer = server.request("POST", f"{SEARCH}/registry", {"query": kinds[kind][0]})
                if answer["search_mode"] != "lexical-only":
                    raise RuntimeError(f"the model is not away: {answer['search_mode']}")
                measured = load(server, kinds[kind], concurrency, args.seconds)
                rows.append({"queries": f"{kind}, model away", "connections": concurrency, **measured})
    return rows


@contextmanager
def _model_away(url: str, options: Sequence[str]) -> Iterator[Server]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / _MODEL.name).write_bytes(_MODEL.read_bytes())
        environment = child_environment(url) | {"SKILLROUTE_MODEL_DIR": folder, "POWERTOOLS_LOG_LEVEL": "ERROR"}
        command = [sys.executable, str(STANDING / "app_process.py"), "--port", str(port), *options]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        try:
            server = Server(process, port)
            deadline = time.monotonic() + _READY_WITHIN_S
            while not _listens(server):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the server without a model did not start")
                time.sleep(0.05)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=60)


def _listens(server: Server) -> bool:
    try:
        server.request("GET", "/openapi.json")
    except OSError:
        return False
    return True


def _cell(values: dict[str, float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values.values())


def _print(title: str, rows: list[Row]) -> None:
    flat = [{n: _cell(v) if n == "whole_ms" else v for n, v in row.items() if n != "stages_ms"} for row in rows]
    print_table(f"{title}; milliseconds as p50 / p95 / p99", flat)
    run = ("queries", "connections")
    print_table(
        "The same, stages on the server",
        [{n: row[n] for n in run} | {s: _cell(ms) for s, ms in row["stages_ms"].items()} for row in rows],
    )


def main() -> None:
    parser = arguments(__doc__)
    add_corpus_options(parser)
    parser.add_argument("--concurrency", type=numbers, default=[1, 8])
    parser.add_argument("--kinds", type=words, default=None, help="of queries; all by default")
    parser.add_argument("--seconds", type=float, default=5.0, help="each run, after a second of warm-up")
    add_server_options(parser)
    args = parser.parse_args()
    kinds = kinds_of_queries(args.data, random.Random(args.seed))
    args.kinds = args.kinds or list(kinds)
    with filled(args) as url:
        rows = with_model(args, url, kinds) + without_model(args, url, kinds)
    _print(f"{args.servers} servers, {args.servers * args.tools_per_server} tools", rows)
    save(args, "registry_latency", {"servers": args.servers, "tools_per_server": args.tools_per_server, "rows": rows})


if __name__ == "__main__":
    main()
