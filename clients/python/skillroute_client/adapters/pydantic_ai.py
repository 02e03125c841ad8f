"""Pydantic AI: the search behind its deferred tools, and the catalogue's tools as such (the extra `pydantic-ai`).

Examples
--------
>>> tools = toolset(skillroute.tools.list(type="tool"), acall=call_over_mcp)
>>> agent = Agent(model, toolsets=[tools], capabilities=[tool_search(async_skillroute)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pydantic_ai import AbstractToolset, FunctionToolset, RunContext
from pydantic_ai import Tool as PydanticTool
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.tools import ToolDefinition

from skillroute_client.adapters.reports import Reports
from skillroute_client.adapters.tools import (
    MAX_FOUND,
    MAX_NEEDS,
    AgentTool,
    AsyncCaller,
    Caller,
    asked_for,
    check_callers,
    logger,
    most_of,
    shortened,
)
from skillroute_client.client import AsyncSkillroute
from skillroute_client.errors import SkillrouteError
from skillroute_client.models.catalogue import Tool
from skillroute_client.models.search import FoundTool

_DESCRIPTION = "Find the tools that a task needs; those that fit become available to be called."
_QUERIES_DESCRIPTION = (
    "One for each step that the task takes, as verb, object and the kind of source or app. For a trip to Oslo: "
    '["search flights by date on a travel site", "read the weather forecast of a city"].'
)


def tool_search(
    client: AsyncSkillroute,
    *,
    limit: int = 5,
    server: str | Sequence[str] | None = None,
    key: Callable[[AgentTool], str] = lambda tool: tool.model_name,
    reports: Reports | None = None,
) -> ToolSearch[Any]:
    """Return the capability that searches an agent's deferred tools; a search that fails finds nothing and is logged.

    Parameters
    ----------
    client : AsyncSkillroute
    limit : int
        How many tools a search finds, and two for each query, up to ten.
    server : str or sequence of str
        Only tools of this MCP server, or of these: name it where the agent has no others.
    key : callable
        The agent's name for a tool of the catalogue, by default ``server__name``: for other toolsets than `toolset`'s.
    reports : Reports or None
        Learns of what was found; the toolset's tools are then called by `Reports.calling`.
    """

    async def search(_: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]) -> list[str]:
        needs = [shortened(query) for query in queries if query.strip()][:MAX_NEEDS]
        most = most_of(needs, limit)
        try:
            answer = await client.search(
                needs=needs, limit=asked_for(most), item_type="tool", include_schemas=False, server=server
            )
        except SkillrouteError as error:
            logger.warning("the agent goes on without tools: %s", error)
            return []
        if reports is not None:
            reports.found(answer)
        deferred = {tool.name for tool in tools}
        found = (key(AgentTool.of(tool)) for tool in answer.tools)
        return [name for name in found if name in deferred][:most]

    return ToolSearch(
        strategy=search,
        max_results=MAX_FOUND,
        tool_description=_DESCRIPTION,
        parameter_description=_QUERIES_DESCRIPTION,
    )


def toolset(
    tools: Iterable[Tool | FoundTool], call: Caller | None = None, acall: AsyncCaller | None = None
) -> AbstractToolset[Any]:
    """Return a toolset of tools that a model gets when they are found.

    Parameters
    ----------
    tools : iterable
        Of a list or a search.
    call, acall : callable
        Calls a tool with its arguments; `acall` is taken where both are given.

    Raises
    ------
    ValueError
        There is neither `call` nor `acall`: Skillroute finds tools, and calls none.
    """
    check_callers(call, acall)
    made = {tool.model_name: tool for tool in map(AgentTool.of, tools)}
    return FunctionToolset([_pydantic_tool(tool, call, acall) for tool in made.values()]).defer_loading()


def _pydantic_tool(tool: AgentTool, call: Caller | None, acall: AsyncCaller | None) -> PydanticTool[Any]:
    def run(**arguments: Any) -> Any:
        assert call is not None  # noqa: S101 (the function is not handed over without it)
        return call(tool, arguments)

    async def arun(**arguments: Any) -> Any:
        assert acall is not None  # noqa: S101
        return await acall(tool, arguments)

    return PydanticTool.from_schema(
        arun if acall else run, tool.model_name, tool.description or tool.name, tool.input_schema
    )
