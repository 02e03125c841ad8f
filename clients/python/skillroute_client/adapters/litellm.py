"""LiteLLM: the tools that fit are chosen before the model is asked (the extra `litellm`).

Examples
--------
>>> search = LiteLLMToolSearch(skillroute)
>>> answer = litellm.completion(model=..., messages=messages, tools=search.tools_for(messages))

>>> litellm.callbacks = [ToolFilter(skillroute, tools)]
>>> answer = await litellm.acompletion(model=..., messages=messages, tools=all_of_them)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import CallTypes

from skillroute_client.adapters.tools import AgentTool, asked_for, field, last_request, logger
from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.engines import Async, M, Sync
from skillroute_client.errors import SkillrouteError
from skillroute_client.models.catalogue import Tool
from skillroute_client.models.search import FoundTool
from skillroute_client.resources.options import SearchOptions
from skillroute_client.resources.root import Root

Messages = Sequence[Mapping[str, Any]]

_WITHOUT_TOOLS = "the model is asked without tools: %s"


class _ToolSearch(Generic[M]):
    """The base of both kinds of search.

    Parameters
    ----------
    client : Skillroute or AsyncSkillroute
    limit : int
        How many tools a model gets at most.
    server : str or sequence of str
        Only tools of this MCP server, or of these.
    """

    def __init__(self, client: Root[M], *, limit: int = 5, server: str | Sequence[str] | None = None) -> None:
        self._client: Root[M] = client
        self._options: SearchOptions = {"limit": limit, "item_type": "tool", "server": server}
        self._known: dict[str, AgentTool] = {}

    def tool(self, model_name: str) -> AgentTool:
        """Return the tool that the model calls by a name. Raises KeyError for one that was never found."""
        return self._known[model_name]

    def _definitions(self, found: Iterable[FoundTool]) -> list[dict[str, Any]] | None:
        tools = {tool.model_name: tool for tool in map(AgentTool.of, found)}
        self._known |= tools
        return [
            {
                "type": "function",
                "function": {"name": name, "description": tool.description, "parameters": tool.input_schema},
            }
            for name, tool in tools.items()
        ] or None  # an empty list is an error for some providers


class LiteLLMToolSearch(_ToolSearch[Sync]):
    """Chooses tools for ``litellm.completion``, and blocks meanwhile."""

    def __init__(self, client: Skillroute, *, limit: int = 5, server: str | Sequence[str] | None = None) -> None:
        super().__init__(client, limit=limit, server=server)

    def tools_for(self, messages: Messages) -> list[dict[str, Any]] | None:
        """Return what `tools` takes, for what the user asked last; None where nothing fits or a search fails."""
        request = last_request(messages)
        if request is None:
            return None
        try:
            return self._definitions(self._client.search(request, **self._options).tools)
        except SkillrouteError as error:
            logger.warning(_WITHOUT_TOOLS, error)
            return None


class AsyncLiteLLMToolSearch(_ToolSearch[Async]):
    """Chooses tools for ``litellm.acompletion``, to be awaited."""

    def __init__(self, client: AsyncSkillroute, *, limit: int = 5, server: str | Sequence[str] | None = None) -> None:
        super().__init__(client, limit=limit, server=server)

    async def tools_for(self, messages: Messages) -> list[dict[str, Any]] | None:
        """Return what `tools` takes, for what the user asked last; None where nothing fits or a search fails."""
        request = last_request(messages)
        if request is None:
            return None
        try:
            return self._definitions((await self._client.search(request, **self._options)).tools)
        except SkillrouteError as error:
            logger.warning(_WITHOUT_TOOLS, error)
            return None


class ToolFilter(CustomLogger):
    """A callback of LiteLLM that leaves tools out of chat completions which do not fit what the user asked last.

    It counts for ``litellm.acompletion`` and in LiteLLM's proxy; ``litellm.completion`` asks no callback. Tools that
    Skillroute does not have stay, and so do those that the conversation has called, or that `tool_choice` names. Where
    nothing fits, or a search fails, all stay.

    Parameters
    ----------
    client : AsyncSkillroute
    tools : iterable
        Of a list or a search: those that may be left out.
    limit : int
        How many of these a model gets at most; those that stay anyway are not counted.
    server : str or sequence of str
        Only tools of this MCP server, or of these, are found: name it where requests have no others.
    key : callable
        The name in requests of a tool of the catalogue; by default ``server__name``.
    """

    def __init__(
        self,
        client: AsyncSkillroute,
        tools: Iterable[Tool | FoundTool],
        *,
        limit: int = 5,
        server: str | Sequence[str] | None = None,
        key: Callable[[AgentTool], str] = lambda tool: tool.model_name,
    ) -> None:
        super().__init__()
        self._client = client
        self._optional = {key(AgentTool.of(tool)) for tool in tools}
        self._limit = limit
        self._server = server
        self._key = key

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: CallTypes | None
    ) -> dict[str, Any] | None:
        """Return a request with the tools that fit, or None: it is sent as it is."""
        given, messages = kwargs.get("tools"), kwargs.get("messages")
        if call_type not in (CallTypes.completion, CallTypes.acompletion) or not given or not messages:
            return None
        optional = {_name(tool) for tool in given} & self._optional
        request = last_request(messages)
        if len(optional) <= self._limit or request is None:
            return None
        fitting = [name for name in await self._found(request) if name in optional][: self._limit]
        if not fitting:
            return None
        left_out = optional - {*fitting, *_called(messages), _name(kwargs.get("tool_choice"))}
        return {**kwargs, "tools": [tool for tool in given if _name(tool) not in left_out]}

    async def _found(self, request: str) -> list[str]:
        limit = asked_for(self._limit)
        try:
            answer = await self._client.search(
                request, limit=limit, item_type="tool", include_schemas=False, server=self._server
            )
        except SkillrouteError as error:
            logger.warning("the model gets all tools: %s", error)
            return []
        return [self._key(AgentTool.of(tool)) for tool in answer.tools]


def _name(tool: Any) -> str | None:
    name = field(field(tool, "function"), "name")
    return name if isinstance(name, str) else None


def _called(messages: Iterable[Any]) -> set[str | None]:
    return {_name(call) for message in messages for call in field(message, "tool_calls") or ()}
