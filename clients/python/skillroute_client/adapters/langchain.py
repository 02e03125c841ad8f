"""LangChain and LangGraph: tools as documents, and what langgraph-bigtool needs (the extra `langgraph`).

Examples
--------
>>> registry = tool_registry(skillroute.tools.list(type="tool"), call=call_over_mcp)
>>> builder = create_agent(llm, registry, retrieve_tools_function=retrieve_tools(skillroute, registry))
>>> agent = builder.compile()
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import ConfigDict

from skillroute_client.adapters.reports import Reports
from skillroute_client.adapters.tools import (
    MAX_NEEDS,
    SEARCH_DESCRIPTION,
    AgentTool,
    AsyncCaller,
    Caller,
    asked_for,
    check_callers,
    logger,
    most_of,
    shortened,
)
from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.errors import SkillrouteError
from skillroute_client.models.catalogue import Tool
from skillroute_client.models.search import FoundTool
from skillroute_client.resources.options import SearchRequest


class SkillrouteRetriever(BaseRetriever):
    """Finds tools as documents: the description, and in the metadata name, server, schema, score and `key`.

    ``retriever.invoke(task, needs=[...])`` finds those of all needs of a task, which is searched for with them.

    Parameters
    ----------
    client : Skillroute
    async_client : AsyncSkillroute or None
        For `ainvoke`; without it the other one is asked in a thread.
    limit : int
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Skillroute
    async_client: AsyncSkillroute | None = None
    limit: int = 5

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, needs: Sequence[str] | None = None
    ) -> list[Document]:
        return _documents(self.client.search(**self._asked(query, needs)).tools)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, needs: Sequence[str] | None = None
    ) -> list[Document]:
        asked = self._asked(query, needs)
        if self.async_client is None:
            return _documents((await asyncio.to_thread(self.client.search, **asked)).tools)
        return _documents((await self.async_client.search(**asked)).tools)

    def _asked(self, query: str, needs: Sequence[str] | None) -> SearchRequest:
        return {"query": query, "needs": needs, "limit": most_of(needs, self.limit), "item_type": "tool"}


def tool_registry(
    tools: Iterable[Tool | FoundTool], call: Caller | None = None, acall: AsyncCaller | None = None
) -> dict[str, BaseTool]:
    """Return tools of LangChain by their keys, as langgraph-bigtool takes them.

    Parameters
    ----------
    tools : iterable
        Of a list or a search.
    call, acall : callable
        Calls a tool with its arguments; one of the two is enough for an agent that is only run that way.

    Raises
    ------
    ValueError
        There is neither `call` nor `acall`: Skillroute finds tools, and calls none.
    """
    check_callers(call, acall)
    made = map(AgentTool.of, tools)
    return {tool.key: _langchain_tool(tool, call, acall) for tool in made}


def retrieve_tools(
    client: Skillroute,
    registry: Collection[str],
    *,
    limit: int = 5,
    server: str | Sequence[str] | None = None,
    key: Callable[[AgentTool], str] = lambda tool: tool.key,
    reports: Reports | None = None,
) -> Callable[..., list[str]]:
    """Return the `retrieve_tools_function` of langgraph-bigtool; a search that fails finds nothing and is logged.

    Parameters
    ----------
    client : Skillroute
    registry : collection of str
        The keys that the agent has tools of; others are never found.
    limit : int
    server : str or sequence of str
        Only tools of this MCP server, or of these: name it where the registry has no others.
    key : callable
        The key in the registry of a tool that was found; by default Skillroute's id.
    reports : Reports or None
        Learns of what was found; the registry's tools are then called by `Reports.calling`.
    """

    def retrieve_tools(query: str | None = None, needs: list[str] | None = None) -> list[str]:
        query, needs = _within_limits(query, needs)
        most = most_of(needs, limit)
        try:
            answer = client.search(
                query, needs=needs, limit=asked_for(most), item_type="tool", include_schemas=False, server=server
            )
        except SkillrouteError as error:
            logger.warning("the agent goes on without tools: %s", error)
            return []
        if reports is not None:
            reports.found(answer)
        return _keys(answer.tools, registry, most, key)

    retrieve_tools.__doc__ = SEARCH_DESCRIPTION  # which is what models read
    return retrieve_tools


def aretrieve_tools(
    client: AsyncSkillroute,
    registry: Collection[str],
    *,
    limit: int = 5,
    server: str | Sequence[str] | None = None,
    key: Callable[[AgentTool], str] = lambda tool: tool.key,
    reports: Reports | None = None,
) -> Callable[..., Coroutine[Any, Any, list[str]]]:
    """Return the `retrieve_tools_coroutine` of langgraph-bigtool; see `retrieve_tools`."""

    async def retrieve_tools(query: str | None = None, needs: list[str] | None = None) -> list[str]:
        query, needs = _within_limits(query, needs)
        most = most_of(needs, limit)
        try:
            answer = await client.search(
                query, needs=needs, limit=asked_for(most), item_type="tool", include_schemas=False, server=server
            )
        except SkillrouteError as error:
            logger.warning("the agent goes on without tools: %s", error)
            return []
        if reports is not None:
            reports.found(answer)
        return _keys(answer.tools, registry, most, key)

    retrieve_tools.__doc__ = SEARCH_DESCRIPTION  # which is what models read
    return retrieve_tools


def _within_limits(query: str | None, needs: Sequence[str] | None) -> tuple[str | None, list[str] | None]:
    """Return what a model asks for as a search takes it: langgraph-bigtool has no words for the model but the tools."""
    stated = [shortened(need) for need in needs or () if need.strip()][:MAX_NEEDS]
    return shortened(query) if query and query.strip() else None, stated or None


def _keys(
    found: Iterable[FoundTool], registry: Collection[str], limit: int, key: Callable[[AgentTool], str]
) -> list[str]:
    keys = (key(AgentTool.of(tool)) for tool in found)
    return [found_key for found_key in keys if found_key in registry][:limit]


def _langchain_tool(tool: AgentTool, call: Caller | None, acall: AsyncCaller | None) -> BaseTool:
    def run(**arguments: Any) -> Any:
        assert call is not None  # noqa: S101 (the function is not handed over without it)
        return call(tool, arguments)

    async def arun(**arguments: Any) -> Any:
        assert acall is not None  # noqa: S101
        return await acall(tool, arguments)

    return StructuredTool.from_function(
        func=run if call else None,
        coroutine=arun if acall else None,
        name=tool.model_name,
        description=tool.description or tool.name,
        args_schema=tool.input_schema,
        infer_schema=False,
    )


def _documents(found: Iterable[FoundTool]) -> list[Document]:
    return [_document(AgentTool.of(tool), tool.score) for tool in found]


def _document(tool: AgentTool, score: float) -> Document:
    metadata = {
        "key": tool.key,
        "name": tool.name,
        "server": tool.server,
        "model_name": tool.model_name,
        "input_schema": tool.input_schema,
        "score": score,
    }
    return Document(id=tool.key, page_content=tool.description, metadata=metadata)
