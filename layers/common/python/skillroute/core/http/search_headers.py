"""How a search was answered, in headers: the same two for every search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MODE_HEADER = "X-Search-Mode"
DEGRADED_HEADER = "X-Degraded"
SEARCHED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            MODE_HEADER: {
                "description": "How the results were ranked: semantic, lexical, hybrid, hybrid_rerank, or "
                "lexical-only while the embedding model is away.",
                "schema": {"type": "string"},
            },
            DEGRADED_HEADER: {
                "description": "What failed on the way, comma-separated; absent when nothing did.",
                "schema": {"type": "string"},
            },
        }
    }
}


def search_headers(mode: str, degraded: Sequence[str]) -> dict[str, str]:
    """Return the headers of a search.

    Examples
    --------
    >>> search_headers("lexical-only", ["embedding_unavailable"])
    {'X-Search-Mode': 'lexical-only', 'X-Degraded': 'embedding_unavailable'}
    """
    headers = {MODE_HEADER: mode}
    return {**headers, DEGRADED_HEADER: ", ".join(degraded)} if degraded else headers
