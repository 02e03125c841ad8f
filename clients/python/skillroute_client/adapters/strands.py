"""Strands Agents: a tool that finds tools, which the agent that calls it has from then on (the extra `strands`).

Examples
--------
>>> agent = Agent(model=model, tools=[tool_search(skillroute, call=call_over_mcp)])
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from strands.tools.registry import ToolRegistry
from strands.tools.tools import PythonAgentTool
from strands.types.tools import ToolResult, ToolSpec, ToolUse

from skillroute_client.adapters.reports import Reports
from skillroute_client.adapters.tools import (
    SEARCH_DESCRIPTION,
    SEARCH_SCHEMA,
    AgentTool,
    AsyncCaller,
    Caller,
    check_callers,
    logger,
    search_arguments,
)
from skillroute_client.client import Skillroute
from skillroute_client.errors import SkillrouteError

SEARCH_NAME = "search_tools"


def tool_search(
    client: Skillroute,
    call: Caller | None = None,
    acall: AsyncCaller | None = None,
    *,
    limit: int = 5,
    server: str | Sequence[str] | None = None,
    report: bool = True,
) -> PythonAgentTool:
    """Return a tool that finds others, and registers them with the agent that called it.

    A search that fails is an error for the model and is logged; the agent goes on with what it has.

    Parameters
    ----------
    client : Skillroute
        Asked in a thread: an agent of Strands that is called without await has a new event loop each time.
    call, acall : callable
        Calls a tool that was found with its arguments; `acall` is taken where both are given.
    limit : int
        How many tools a search finds, where the model names no other number.
    server : str or sequence of str
        Only tools of this MCP server, or of these.
    report : bool
        Whether calls are reported, for Skillroute to learn from: then make one for each conversation (`Reports`).

    Raises
    ------
    ValueError
        There is neither `call` nor `acall`: Skillroute finds tools, and calls none.
    """
    check_callers(call, acall)
    reports = Reports(client, is_on=report)
    call, acall = reports.around(call, acall)

    async def search(tool_use: ToolUse, **state: Any) -> ToolResult:
        try:
            asked = search_arguments(tool_use["input"], limit)
            answer = await asyncio.to_thread(
                client.search, asked.query, needs=asked.needs, limit=asked.limit, item_type="tool", server=server
            )
        except (SkillrouteError, ValueError) as error:
            logger.warning("the agent goes on with the tools that it has: %s", error)
            return _result(tool_use, str(error), is_error=True)
        reports.found(answer)
        registry: ToolRegistry = state["agent"].tool_registry
        found = map(AgentTool.of, answer.tools)
        return _registered(tool_use, [one.model_name for one in found if _is_registered(registry, one, call, acall)])

    return PythonAgentTool(SEARCH_NAME, _spec(SEARCH_NAME, SEARCH_DESCRIPTION, SEARCH_SCHEMA), search)


def _registered(tool_use: ToolUse, names: Sequence[str]) -> ToolResult:
    text = f"These can be called now: {', '.join(names)}" if names else "No tool fits. Try other words."
    return _result(tool_use, text)


def _is_registered(registry: ToolRegistry, tool: AgentTool, call: Caller | None, acall: AsyncCaller | None) -> bool:
    if tool.model_name not in registry.registry:
        try:
            registry.register_tool(_strands_tool(tool, call, acall))
        except ValueError as error:  # Strands holds `a-b` and `a_b` for one name
            logger.warning("%s cannot be called: %s", tool.model_name, error)
            return False
    return True


def _strands_tool(tool: AgentTool, call: Caller | None, acall: AsyncCaller | None) -> PythonAgentTool:
    async def run(tool_use: ToolUse, **_: Any) -> ToolResult:
        if acall is not None:
            answer = await acall(tool, tool_use["input"])
        else:
            assert call is not None  # noqa: S101 (one of the two is there)
            answer = await asyncio.to_thread(call, tool, tool_use["input"])
        return _result(tool_use, answer if isinstance(answer, str) else json.dumps(answer, default=str))

    description = tool.description or tool.name
    return PythonAgentTool(tool.model_name, _spec(tool.model_name, description, tool.input_schema), run)


def _spec(name: str, description: str, schema: dict[str, Any]) -> ToolSpec:
    return {"name": name, "description": description, "inputSchema": {"json": schema}}


def _result(tool_use: ToolUse, text: str, *, is_error: bool = False) -> ToolResult:
    return {
        "toolUseId": tool_use["toolUseId"],
        "status": "error" if is_error else "success",
        "content": [{"text": text}],
    }
