"""Ten searches in one call of `POST /api/v1/search/batch` against ten calls of `POST /api/v1/search`.

Both sides run in turns in this process, over the same app and the examples' catalogue, with queries that come once
each, so that none is remembered. `cpu_ms` is this process's time on the processor, PostgreSQL's and the network's left
out, which tells what other work on the machine hides. With `--delay-ms` every call of the embedding model waits first,
as one of a remote model does: that is what a batch saves most of.

    python benchmarks/batch_search.py --rounds 30 --json results/batch_search.json
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from harness import ROOT, SEARCH, arguments, fresh_database, print_table, save
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

SIZE = 10


class Delayed:
    """An embedder each call of which takes some time longer."""

    def __init__(self, inner: Embedder, delay_s: float) -> None:
        self._inner = inner
        self._delay_s = delay_s
        self.calls = 0

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        self.calls += 1
        time.sleep(self._delay_s)
        return self._inner.embed(texts, timeout_s=timeout_s)


def lines(name: str) -> list[dict[str, Any]]:
    """Return the rows of one of the examples' files."""
    text = Path(ROOT / "examples" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def measured(send: Callable[[], None], embedder: Delayed) -> dict[str, float]:
    """Return what one go takes."""
    wall, cpu, calls = time.perf_counter(), time.process_time(), embedder.calls
    send()
    return {
        "wall_ms": (time.perf_counter() - wall) * 1000.0,
        "cpu_ms": (time.process_time() - cpu) * 1000.0,
        "embedding_calls": embedder.calls - calls,
    }


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="goes of each side (default: 30)")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="of each call of the model (default: 0)")
    args = parser.parse_args()
    queries = [line["query"] for line in lines("queries.jsonl")]
    numbers = count()

    def searches() -> list[dict[str, Any]]:
        return [{"query": f"{queries[n % len(queries)]} {n}"} for n in (next(numbers) for _ in range(SIZE))]

    with fresh_database() as url:
        settings = LocalSettings(database_url=url)
        embedder = Delayed(Parts(settings).embedder, args.delay_ms / 1000.0)
        parts = Parts(settings, embedder=embedder)
        routers = [*parts.search_routers(), *parts.catalog_routers()]
        client = TestClient(create_app(routers, access=parts.access, use_cases=parts.use_cases))
        embedder._delay_s = 0.0
        tools = [{**tool, "skills": None} for tool in lines("tools.jsonl")]
        for start in range(0, len(tools), 100):
            assert client.put("/api/v1/tools", json={"items": tools[start : start + 100]}).status_code == 200
        embedder._delay_s = args.delay_ms / 1000.0

        def alone() -> None:
            for search in searches():
                assert client.post(SEARCH, json=search).status_code == 200

        def together() -> None:
            answer = client.post(f"{SEARCH}/batch", json={"searches": searches()})
            assert answer.json()["metadata"]["answered"] == SIZE

        sides = {f"{SIZE} calls": alone, "one batch": together}
        for send in sides.values():
            send()
        found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
        for _ in range(args.rounds):
            for name, send in sides.items():
                found[name].append(measured(send, embedder))
        parts.close()
    rows = [
        {"side": name, **{key: statistics.median(go[key] for go in goes) for key in goes[0]}}
        for name, goes in found.items()
    ]
    print_table("Ten searches, median", rows)
    save(args, "batch_search", {"rows": rows})


if __name__ == "__main__":
    main()
