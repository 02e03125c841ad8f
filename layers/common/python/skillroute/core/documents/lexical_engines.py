"""The lexical engines, and what answers, cursors, settings and events call them (message-search, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

LexicalEngineName = Literal["postgres", "bm25"]
"""PostgreSQL's full text, and BM25 in the vector index."""

WireName = Literal["fts5", "tantivy"]
"""The contract's names of the same: of the engines whose roles they play."""

WIRE_NAMES: Final[Mapping[LexicalEngineName, WireName]] = {"postgres": "fts5", "bm25": "tantivy"}
ENGINES: Final[Mapping[str, LexicalEngineName]] = {wire_name: engine for engine, wire_name in WIRE_NAMES.items()}
"""The same table read backwards: the engine of a wire name."""
