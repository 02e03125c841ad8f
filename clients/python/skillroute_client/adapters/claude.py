"""Claude's custom tool search: a tool of ours whose result refers to tools that are sent, but not loaded.

Claude gets the definitions of all tools with ``defer_loading``, which costs no context, and one tool that finds them.
Its result is blocks of ``tool_reference``; the API then loads the definitions that they name ("Tool search tool, Custom
tool search implementation" of Claude's documentation). Everything here is JSON, so it works with Anthropic's SDK and
without.

Examples
--------
>>> search = ClaudeToolSearch(skillroute)
>>> tools = search.definitions()
>>> message = anthropic.messages.create(model=..., max_tokens=1024, messages=messages, tools=tools)
>>> results = [search.result(block) for block in message.content if search.is_search(block)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Unpack

from skillroute_client.adapters.tools import (
    MAX_FOUND,
    SEARCH_DESCRIPTION,
    SEARCH_SCHEMA,
    AgentTool,
    Asked,
    asked_for,
    field,
    search_arguments,
)
from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.engines import Async, M, Sync
from skillroute_client.errors import SkillrouteError
from skillroute_client.models.search import FoundTool
from skillroute_client.resources.options import ListTools, SearchOptions
from skillroute_client.resources.root import Root

SEARCH_NAME = "search_tools"


class _ToolSearch(Generic[M]):
    """The base of both kinds of search.

    Parameters
    ----------
    client : Skillroute or AsyncSkillroute
    limit : int
        How many tools a search finds, where Claude names no other number.
    name : str
        What Claude calls the search.
    """

    def __init__(self, client: Root[M], *, limit: int = 5, name: str = SEARCH_NAME) -> None:
        self._client: Root[M] = client
        self._limit = limit
        self._name = name
        self._known: dict[str, AgentTool] = {}
        self._where: ListTools = {}

    def is_search(self, block: Any) -> bool:
        """Return whether a block of Claude's answer calls the search; one of the SDK's, or its JSON."""
        return bool(field(block, "type") == "tool_use" and field(block, "name") == self._name)

    def tool(self, model_name: str) -> AgentTool:
        """Return the tool that Claude calls by a name. Raises KeyError for one that was never sent."""
        return self._known[model_name]

    def _definitions(self, tools: Iterable[AgentTool], where: ListTools) -> list[dict[str, Any]]:
        self._where = where
        self._known = {tool.model_name: tool for tool in tools}
        search: dict[str, Any] = {"name": self._name, "description": SEARCH_DESCRIPTION, "input_schema": SEARCH_SCHEMA}
        deferred: list[dict[str, Any]] = [
            {
                "name": tool.model_name,
                "description": tool.description,
                "input_schema": tool.input_schema,
                "defer_loading": True,
            }
            for tool in self._known.values()
        ]
        return [search, *deferred]

    def _options(self, asked: Asked) -> SearchOptions:
        """Return what a search is asked with: within the server whose tools were sent, and for more than are wanted.

        What was written since is found and was not sent, and a search knows no other condition of a list.
        """
        limit = MAX_FOUND if {*self._where} - {"server", "type", "limit"} else asked_for(asked.limit)
        return {
            "needs": asked.needs,
            "limit": limit,
            "server": self._where.get("server"),
            "item_type": "tool",
            "include_schemas": False,
        }

    def _found(self, block: Any, found: Iterable[FoundTool], limit: int) -> dict[str, Any]:
        # A reference to what was not sent would be refused, with the whole request.
        names = [tool.model_name for tool in map(AgentTool.of, found) if tool.model_name in self._known]
        content: Any = [{"type": "tool_reference", "tool_name": name} for name in names[:limit]]
        return _result(block, content or "No tool fits. Try other words, or do without.")


class ClaudeToolSearch(_ToolSearch[Sync]):
    """Searches for Claude, and blocks meanwhile."""

    def __init__(self, client: Skillroute, *, limit: int = 5, name: str = SEARCH_NAME) -> None:
        super().__init__(client, limit=limit, name=name)

    def definitions(self, **where: Unpack[ListTools]) -> list[dict[str, Any]]:
        """Return what `tools` of a request takes: the search, and the catalogue's tools, deferred (10,000 at most).

        Conditions are those of `client.tools.list`; searches find what was returned last, and nothing else.
        """
        where["type"] = "tool"
        return self._definitions(map(AgentTool.of, self._client.tools.list(**where)), where)

    def result(self, block: Any) -> dict[str, Any]:
        """Return the ``tool_result`` of a search; a failure is reported to Claude as an error."""
        try:
            asked = search_arguments(field(block, "input"), self._limit)
            answer = self._client.search(asked.query, **self._options(asked))
        except (SkillrouteError, ValueError) as error:
            return _result(block, str(error), is_error=True)
        return self._found(block, answer.tools, asked.limit)


class AsyncClaudeToolSearch(_ToolSearch[Async]):
    """Searches for Claude, to be awaited."""

    def __init__(self, client: AsyncSkillroute, *, limit: int = 5, name: str = SEARCH_NAME) -> None:
        super().__init__(client, limit=limit, name=name)

    async def definitions(self, **where: Unpack[ListTools]) -> list[dict[str, Any]]:
        """Return what `tools` of a request takes: the search, and the catalogue's tools, deferred (10,000 at most).

        Conditions are those of `client.tools.list`; searches find what was returned last, and nothing else.
        """
        where["type"] = "tool"
        return self._definitions([AgentTool.of(tool) async for tool in self._client.tools.list(**where)], where)

    async def result(self, block: Any) -> dict[str, Any]:
        """Return the ``tool_result`` of a search; a failure is reported to Claude as an error."""
        try:
            asked = search_arguments(field(block, "input"), self._limit)
            answer = await self._client.search(asked.query, **self._options(asked))
        except (SkillrouteError, ValueError) as error:
            return _result(block, str(error), is_error=True)
        return self._found(block, answer.tools, asked.limit)


def _result(block: Any, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    failed = {"is_error": True} if is_error else {}
    return {"type": "tool_result", "tool_use_id": field(block, "id"), "content": content, **failed}
