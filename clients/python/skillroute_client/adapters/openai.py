"""OpenAI's client-executed tool search: the model asks for tools, and gets the definitions of those that fit.

The Responses API is sent one tool, ``tool_search`` with ``execution: client``. The model's ``tool_search_call`` is
answered with a ``tool_search_output``, whose definitions it can call from then on ("Tool search" of OpenAI's
documentation). Everything here is JSON, so it works with OpenAI's SDK and without.

Examples
--------
>>> search = OpenAIToolSearch(skillroute)
>>> response = openai.responses.create(model=..., input=items, tools=[search.definition()])
>>> items += [*response.output, *(search.output(item) for item in response.output if search.is_search(item))]
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Generic

from skillroute_client.adapters.tools import SEARCH_DESCRIPTION, SEARCH_SCHEMA, AgentTool, field, search_arguments
from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.engines import Async, M, Sync
from skillroute_client.models.search import FoundTool
from skillroute_client.resources.root import Root


class _ToolSearch(Generic[M]):
    """The base of both kinds of search.

    Parameters
    ----------
    client : Skillroute or AsyncSkillroute
    limit : int
        How many tools a search finds, where the model names no other number.
    """

    def __init__(self, client: Root[M], *, limit: int = 5) -> None:
        self._client: Root[M] = client
        self._limit = limit
        self._known: dict[str, AgentTool] = {}

    def definition(self) -> dict[str, Any]:
        """Return what `tools` of a request takes for the search."""
        return {
            "type": "tool_search",
            "execution": "client",
            "description": SEARCH_DESCRIPTION,
            "parameters": SEARCH_SCHEMA,
        }

    def is_search(self, item: Any) -> bool:
        """Return whether an item of the model's output asks this side for tools; one of the SDK's, or its JSON."""
        return bool(field(item, "type") == "tool_search_call" and field(item, "execution") == "client")

    def tool(self, model_name: str) -> AgentTool:
        """Return the tool that the model calls by a name. Raises KeyError for one that was never found."""
        return self._known[model_name]

    def _output(self, item: Any, found: Iterable[FoundTool]) -> dict[str, Any]:
        tools = [AgentTool.of(tool) for tool in found]
        self._known |= {tool.model_name: tool for tool in tools}
        definitions: list[dict[str, Any]] = [
            {
                "type": "function",
                "name": tool.model_name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,  # schemas of others need not be of the strict kind
                "defer_loading": True,
            }
            for tool in tools
        ]
        return {
            "type": "tool_search_output",
            "execution": "client",
            "call_id": field(item, "call_id"),
            "status": "completed",
            "tools": definitions,
        }


class OpenAIToolSearch(_ToolSearch[Sync]):
    """Searches for a model of OpenAI, and blocks meanwhile."""

    def __init__(self, client: Skillroute, *, limit: int = 5) -> None:
        super().__init__(client, limit=limit)

    def output(self, item: Any) -> dict[str, Any]:
        """Return the ``tool_search_output`` of a ``tool_search_call``.

        Raises
        ------
        SkillrouteError
            Nothing could be searched: the item has no place for an error.
        ValueError
            The model asked for nothing.
        """
        query, needs, limit = search_arguments(_arguments(item), self._limit)
        return self._output(item, self._client.search(query, needs=needs, limit=limit, item_type="tool").tools)


class AsyncOpenAIToolSearch(_ToolSearch[Async]):
    """Searches for a model of OpenAI, to be awaited."""

    def __init__(self, client: AsyncSkillroute, *, limit: int = 5) -> None:
        super().__init__(client, limit=limit)

    async def output(self, item: Any) -> dict[str, Any]:
        """Return the ``tool_search_output`` of a ``tool_search_call``; raises as `OpenAIToolSearch.output` does."""
        query, needs, limit = search_arguments(_arguments(item), self._limit)
        answer = await self._client.search(query, needs=needs, limit=limit, item_type="tool")
        return self._output(item, answer.tools)


def _arguments(item: Any) -> Any:
    arguments = field(item, "arguments")
    return json.loads(arguments) if isinstance(arguments, str) else arguments  # others' servers send them as text
