"""Judged sets among the tools of real MCP servers, ordinary names and all: `benchmarks/corpora/crowd.py` says which."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence

from data import DATA, ROOT, Pool, Query, Tool, tool_of
from evidence import vectors_of
from skillroute.core.embedding.onnx import OnnxEmbedder

sys.path.append(str(ROOT))
from benchmarks.corpora.crowd import apart
from benchmarks.corpora.crowd import crowd as lines_of_crowd


def crowd() -> list[Tool]:
    """Return the tools of real MCP servers."""
    return [tool_of(line, line["server"]) for line in lines_of_crowd(DATA)]


def among_crowd(
    pool: Pool, queries: Sequence[Query], others: Sequence[Tool], embedder: OnnxEmbedder, own: int | None = None
) -> Pool:
    """Return a set's tools and the crowd, but for what may serve a request as well.

    Of the set's tools that no request is for as many as `own` says are drawn, all of them where it is not given.
    """
    wanted = {id_ for query in queries for id_ in query.relevant}
    tools = _some(pool.tools, wanted, own)
    right = vectors_of([tools[id_] for id_ in sorted(wanted)], embedder)
    kept = apart(vectors_of(others, embedder), right)
    return Pool(pool.name, tools | {tool.id: tool for tool, is_apart in zip(others, kept, strict=True) if is_apart})


def _some(tools: dict[str, Tool], wanted: Iterable[str], own: int | None) -> dict[str, Tool]:
    wanted = set(wanted)
    rest = [id_ for id_ in tools if id_ not in wanted]
    drawn = rest if own is None else random.Random(1).sample(rest, min(own, len(rest)))
    kept = wanted.union(drawn)
    return {id_: tool for id_, tool in tools.items() if id_ in kept}
