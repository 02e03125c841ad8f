"""Answers whose tools are as MCP's `tools/list` has them: what `format: "mcp"` asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema

from skillroute.core.input.json_schema import INTEGER, NUMBER, OBJECT, STRING, described, list_of, object_of
from skillroute.core.input.strict_schemas import strict_input, strict_output
from skillroute.search.answer.explanation import (
    DetailedSearchResponse,
    LimitedDetailedSearchResponse,
    LimitedSearchResponse,
)
from skillroute.search.model import EnrichedTool, SearchMetadata, SearchRequest, SearchResponse, SkillMatch
from skillroute.search.needs.answer import NeededTool, NeedsMetadata, NeedsSearchResponse

_NOT_OF_NAMES = re.compile("[^A-Za-z0-9_-]+")

_META = object_of(
    {
        "skillroute/tool_id": described(INTEGER, "By which `/api/v1/tools/{item_id}` knows the tool."),
        "skillroute/server": described({"type": ["string", "null"]}, "The MCP server that offers it."),
        "skillroute/name": described(STRING, "What the server calls it, which is what a call must name."),
        "skillroute/score": described(
            NUMBER, "What the results are sorted by, behind those that the request names; 0..1."
        ),
        "skillroute/needs": described(list_of(INTEGER), "With `needs`: places of those that it serves."),
    },
    *("skillroute/tool_id", "skillroute/server", "skillroute/name", "skillroute/score"),
)
_TOOL = object_of(
    {
        "name": described(STRING, "Unique in the answer: of tools of one name, each has its server's before it."),
        "description": STRING,
        "inputSchema": described(OBJECT, "Of a tool without one: any object."),
        "outputSchema": OBJECT,
        "annotations": OBJECT,
        "_meta": described(_META, "For the program that calls the tool; models need none of it."),
    },
    *("name", "description", "inputSchema", "_meta"),
)
McpTool = Annotated[dict[str, Any], WithJsonSchema({**_TOOL, "title": "McpTool"})]


class McpSearchResponse(BaseModel):
    """The answer of `POST /api/v1/search` with `format: "mcp"`.

    A tool whose schema could not be loaded, or had no room, is not among `tools`, but in `metadata.schemas_omitted`.
    """

    model_config = ConfigDict(frozen=True)

    query: str | None
    tools: list[McpTool]
    matched_skills: list[SkillMatch]
    metadata: SearchMetadata


class NeedsMcpSearchResponse(McpSearchResponse):
    """The answer of `POST /api/v1/search` with `format: "mcp"` and `needs`."""

    metadata: NeedsMetadata


AnySearchResponse = (
    SearchResponse
    | DetailedSearchResponse
    | LimitedSearchResponse
    | LimitedDetailedSearchResponse
    | NeedsSearchResponse
    | McpSearchResponse
    | NeedsMcpSearchResponse
)
"""The answer models of `POST /api/v1/search`."""


def in_format(request: SearchRequest, answer: SearchResponse) -> SearchResponse | McpSearchResponse:
    """Return an answer in the format that was asked for."""
    return as_mcp(answer) if request.format == "mcp" else answer


def as_mcp(answer: SearchResponse) -> McpSearchResponse:
    """Return an answer with its tools as MCP lists them."""
    nothing_loaded = "schema_load_failed" in answer.metadata.degraded
    omitted = [tool.id for tool in answer.tools] if nothing_loaded else answer.metadata.schemas_omitted
    tools = [tool for tool in answer.tools if tool.id not in set(omitted)]
    shown = [_tool(tool, name) for tool, name in zip(tools, unique_names(tools), strict=True)]
    metadata = answer.metadata.model_copy(update={"schemas_omitted": omitted, "final_count": len(shown)})
    kind = NeedsMcpSearchResponse if isinstance(answer, NeedsSearchResponse) else McpSearchResponse
    return kind.model_construct(
        query=answer.query, tools=shown, matched_skills=answer.matched_skills, metadata=metadata
    )


def unique_names(tools: Sequence[EnrichedTool]) -> list[str]:
    """Return a name for each tool that no other has: models refuse two tools of one name.

    Of a server's name only what models take in names of tools is put before one.
    """
    names = Counter(tool.name for tool in tools)
    shown = [tool.name if names[tool.name] == 1 else _with_server(tool) for tool in tools]
    while max((again := Counter(shown)).values(), default=1) > 1:
        shown = [
            name if again[name] == 1 else f"{name}__{tool.tool_id}" for tool, name in zip(tools, shown, strict=True)
        ]
    return shown


def _with_server(tool: EnrichedTool) -> str:
    server = _NOT_OF_NAMES.sub("_", tool.server or "").strip("_")
    return f"{server}__{tool.name}" if server else tool.name


def _tool(tool: EnrichedTool, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": name,
        "description": tool.description,
        "inputSchema": strict_input(tool.input_schema),
    }
    if (output := strict_output(tool.output_schema)) is not None:
        shown["outputSchema"] = output
    if tool.annotations is not None:
        shown["annotations"] = tool.annotations
    shown["_meta"] = {
        "skillroute/tool_id": tool.tool_id,
        "skillroute/server": tool.server,
        "skillroute/name": tool.name,
        "skillroute/score": tool.score,
    }
    if isinstance(tool, NeededTool):
        shown["_meta"]["skillroute/needs"] = tool.needs
    return shown
