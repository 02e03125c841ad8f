"""The options of searches for tools that the commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer


class Strategy(StrEnum):
    """How to search."""

    HIERARCHICAL = "hierarchical"
    DIRECT = "direct"
    HYBRID = "hybrid"


class Mode(StrEnum):
    """How to rank."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    HYBRID = "hybrid"
    HYBRID_RERANK = "hybrid_rerank"


StrategyOption = Annotated[
    Strategy | None, typer.Option("--strategy", help="Skills first, all tools, or both merged; default: hierarchical.")
]
ModeOption = Annotated[
    Mode | None,
    typer.Option("--mode", help="By meaning, by words, by both, or both reranked; default: the deployment's."),
]
ItemTypeOption = Annotated[str | None, typer.Option("--type", help="tool, prompt or resource.")]


def search_fields(strategy: Strategy | None, mode: Mode | None, item_type: str | None) -> dict[str, Any]:
    """Return the fields of a search request that were asked for; the strategy always, so that answers can name it."""
    fields: dict[str, Any] = {"strategy": (strategy or Strategy.HIERARCHICAL).value}
    fields |= {"mode": mode.value} if mode else {}
    fields |= {"item_type": item_type} if item_type else {}
    return fields
