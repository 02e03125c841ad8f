"""This project's search, asked as the peers are (`peers/answering.py`): a database of its own, one encoder, in process.

A search is what the service does for a request: looking for changes in PostgreSQL, embedding the query, every stage,
and the schemas of what was found. No query is remembered, since each method is asked the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from skillroute.core.caller import LAPTOP
from skillroute.core.settings import SearchSettings
from skillroute.search.model import SearchRequest
from skillroute.wiring import Parts

from benchmarks.corpora.judged import Imported, load
from benchmarks.harness import fresh_database
from benchmarks.standing.peers.answering import LIMIT, Json, Search, serve

METHODS = {
    f"{strategy} {mode}": {"strategy": strategy, "mode": mode}
    for mode in ("semantic", "lexical", "hybrid")
    for strategy in ("hierarchical", "direct")
}


@contextmanager
def _opened(given: Json) -> Iterator[Mapping[str, Search]]:
    judged = load(given["set"], Path(given["data"]), **given["limits"])
    with fresh_database() as url:
        # Beside the other processes a batch of texts may take longer than a service would wait.
        options = {"embedding_model": given["encoder"], "query_cache_size": 0, "batch_timeout_s": 600.0}
        parts = Parts(SearchSettings(database_url=url, **options))
        try:
            data = Imported(judged, parts, given["limits"]["seed"])
            yield {name: _search(data, options) for name, options in METHODS.items()}
        finally:
            parts.close()


def _search(data: Imported, options: Mapping[str, str]) -> Search:
    def search(query: str) -> list[str]:
        request = SearchRequest.model_validate({"query": query, "limit": LIMIT, **options})
        response = data.parts.tool_search.search(request, LAPTOP)
        if response.metadata.degraded:
            raise RuntimeError(f"{options} is degraded for {query!r}: {response.metadata.degraded}")
        return data.ranked(response)

    return search


def main() -> None:
    for name in [name for name in os.environ if name.startswith("SKILLROUTE_")]:
        del os.environ[name]  # the caller's own settings are not what is compared
    with ExitStack() as stack:
        serve(lambda given: stack.enter_context(_opened(given)), ["qdrant-edge-py", "onnxruntime"])


if __name__ == "__main__":
    main()
