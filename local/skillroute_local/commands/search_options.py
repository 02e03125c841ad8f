"""The options of searches for tools that the commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

TOOLS = 5
MESSAGES = 10
OF_EACH_TYPE = 3
"""How many results a search shows unless it is asked for more or fewer."""


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


class ItemType(StrEnum):
    """The searched kinds."""

    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"


StrategyOption = Annotated[
    Strategy | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="hierarchical: skills first, then their tools; direct: all tools; hybrid: both, merged. "
        "Default: hierarchical.",
    ),
]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        metavar="NAME",
        help="semantic: by meaning; lexical: by words; hybrid: by both; hybrid_rerank: both, reranked, "
        "where a reranker is configured. Default: the deployment's.",
    ),
]
ItemTypeOption = Annotated[
    ItemType | None, typer.Option("--type", metavar="TYPE", help="tool, prompt or resource; default: all.")
]
SkillThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--skill-threshold",
        metavar="N",
        help="Minimum cosine similarity of a skill; default: 0.4, none in mode hybrid.",
        min=0,
        max=1,
    ),
]
ToolThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--tool-threshold",
        metavar="N",
        help="Minimum cosine similarity of a tool; default: 0.3, none in mode hybrid.",
        min=0,
        max=1,
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        help=f"How many at most; default: {TOOLS}, with --need 2 for each up to 10, with --registry {OF_EACH_TYPE} of "
        f"each type, with --mail {MESSAGES}.",
        min=1,
        max=50,
    ),
]
NeedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--need",
        metavar="TEXT",
        help="What a task needs, instead of QUERY: a verb, an object and the kind of app; up to ten times.",
    ),
]
ServerOption = Annotated[
    list[str] | None,
    typer.Option("--server", metavar="NAME", help="Only of this MCP server; may be given several times."),
]
RegistryOption = Annotated[
    bool,
    typer.Option("--registry", help="Find MCP servers, their tools and A2A agents; `#tag` in the query filters."),
]
MailOption = Annotated[bool, typer.Option("--mail", help="Find messages of agent mail; takes --mode too.")]
SchemasOption = Annotated[bool, typer.Option("--schemas", help="Show input schemas; with --json they are there.")]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")]
CollapseOption = Annotated[
    bool, typer.Option("--collapse-duplicates", help="Of one tool from several servers show the best.")
]


def search_fields(strategy: Strategy | None, mode: Mode | None, item_type: ItemType | None) -> dict[str, Any]:
    """Return the fields of a search request that were asked for; the strategy always, so that answers can name it."""
    fields: dict[str, Any] = {"strategy": (strategy or Strategy.HIERARCHICAL).value}
    fields |= {"mode": mode.value} if mode else {}
    fields |= {"item_type": item_type.value} if item_type else {}
    return fields
