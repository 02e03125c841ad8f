"""GitHub Copilot's SDK: a search of one's own in place of its `tool_search_tool` (the extra `copilot`).

Examples
--------
>>> session = await copilot.create_session(tools=[tool_search(async_skillroute)], mcp_servers=...)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from copilot.tools import Tool, ToolInvocation, ToolResult

from skillroute_client.adapters.tools import (
    SEARCH_DESCRIPTION,
    SEARCH_SCHEMA,
    AgentTool,
    asked_for,
    logger,
    search_arguments,
)
from skillroute_client.client import AsyncSkillroute
from skillroute_client.errors import SkillrouteError

if TYPE_CHECKING:
    from copilot.generated.rpc import CurrentToolMetadata

SEARCH_NAME = "tool_search_tool"


def tool_search(client: AsyncSkillroute, *, limit: int = 5, server: str | Sequence[str] | None = None) -> Tool:
    """Return the tool that replaces Copilot's search of the tools that a session holds back.

    Tools of MCP servers are found where a session calls the server as the catalogue does; others by the name
    ``server__name``. A search that fails is a failure for the model and is logged; the session goes on.

    Parameters
    ----------
    client : AsyncSkillroute
    limit : int
        How many tools a search finds, where the model names no other number.
    server : str or sequence of str
        Only tools of this MCP server, or of these: name it where the session has no others.
    """

    async def search(invocation: ToolInvocation) -> ToolResult:
        try:
            asked = search_arguments(invocation.arguments, limit)
            answer = await client.search(
                asked.query,
                needs=asked.needs,
                limit=asked_for(asked.limit),
                item_type="tool",
                include_schemas=False,
                server=server,
            )
        except (SkillrouteError, ValueError) as error:
            logger.warning("the session goes on with the tools that it has: %s", error)
            return ToolResult(text_result_for_llm=str(error), result_type="failure", error=str(error))
        names = _names(map(AgentTool.of, answer.tools), invocation.available_tools or ())
        found = list(islice(names, asked.limit))
        text = f"These can be called now: {', '.join(found)}" if found else "No tool fits. Try other words."
        return ToolResult(text_result_for_llm=text, tool_references=found)

    return Tool(
        name=SEARCH_NAME,
        description=SEARCH_DESCRIPTION,
        handler=search,
        parameters=SEARCH_SCHEMA,
        overrides_built_in_tool=True,
        skip_permission=True,  # it reads only, and the one that it replaces asks for none
        defer="never",
    )


def _names(found: Iterable[AgentTool], available: Iterable[CurrentToolMetadata]) -> Iterable[str]:
    """Yield what the session calls those of the found tools that it has."""
    tools = list(available)
    of_servers: dict[tuple[str | None, str | None], str] = {
        (tool.mcp_server_name, tool.mcp_tool_name): tool.name for tool in tools if tool.mcp_server_name
    }
    names = {tool.name for tool in tools}
    for tool in found:
        if name := of_servers.get((tool.server, tool.name)):
            yield name
        elif tool.model_name in names:
            yield tool.model_name
