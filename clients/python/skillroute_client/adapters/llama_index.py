"""LlamaIndex: tools as nodes, and as objects that an agent can call (the extra `llama-index`).

Examples
--------
>>> retriever = tool_retriever(skillroute, call=call_over_mcp)
>>> agent = FunctionAgent(llm=llm, tool_retriever=retriever)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.objects import ObjectRetriever
from llama_index.core.objects.base_node_mapping import BaseObjectNodeMapping
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, ToolMetadata

from skillroute_client.adapters.reports import Reports
from skillroute_client.adapters.tools import AgentTool, AsyncCaller, Caller, check_callers, most_of
from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.models.search import FoundTool, SearchAnswer
from skillroute_client.resources.options import SearchRequest


class SkillrouteRetriever(BaseRetriever):
    """Finds tools as nodes: the description, and in the metadata name, server, schema and `key`.

    ``QueryBundle(task, custom_embedding_strs=[...])`` finds those of all needs of a task, which are its strings; the
    task is searched for with them.

    Parameters
    ----------
    client : Skillroute
    async_client : AsyncSkillroute or None
        For `aretrieve`; without it the other one is asked, and blocks.
    limit : int
    reports : Reports or None
        Learns of what was found.
    """

    def __init__(
        self,
        client: Skillroute,
        *,
        async_client: AsyncSkillroute | None = None,
        limit: int = 5,
        reports: Reports | None = None,
    ) -> None:
        super().__init__()
        self._client = client
        self._async_client = async_client
        self._limit = limit
        self._reports = reports

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(self._client.search(**self._asked(query_bundle)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return self._retrieve(query_bundle)
        return self._nodes(await self._async_client.search(**self._asked(query_bundle)))

    def _nodes(self, answer: SearchAnswer) -> list[NodeWithScore]:
        if self._reports is not None:
            self._reports.found(answer)
        return _nodes(answer.tools)

    def _asked(self, bundle: QueryBundle) -> SearchRequest:
        needs = bundle.custom_embedding_strs
        limit = most_of(needs, self._limit)
        return {"query": bundle.query_str, "needs": needs, "limit": limit, "item_type": "tool"}


def tool_retriever(
    client: Skillroute,
    *,
    call: Caller | None = None,
    acall: AsyncCaller | None = None,
    async_client: AsyncSkillroute | None = None,
    limit: int = 5,
    report: bool = True,
) -> ObjectRetriever[FunctionTool]:
    """Return what finds tools that can be called, as agents of LlamaIndex take it for `tool_retriever`.

    Parameters
    ----------
    client, async_client, limit
        See `SkillrouteRetriever`.
    call, acall : callable
        Calls a tool with its arguments; one of the two is needed.
    report : bool
        Whether calls are reported, for Skillroute to learn from: then make one for each conversation (`Reports`).

    Raises
    ------
    ValueError
        There is neither `call` nor `acall`: Skillroute finds tools, and calls none.
    """
    check_callers(call, acall)
    reports = Reports(client, is_on=report)
    retriever = SkillrouteRetriever(client, async_client=async_client, limit=limit, reports=reports)
    return ObjectRetriever(retriever, _ToolsOfNodes(*reports.around(call, acall)))


@dataclass
class _Metadata(ToolMetadata):
    """Metadata whose parameters are a schema as it is, not a class made of it."""

    schema: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.schema


class _ToolsOfNodes(BaseObjectNodeMapping[FunctionTool]):
    """Makes of the nodes that were found tools that can be called; nothing is kept."""

    def __init__(self, call: Caller | None, acall: AsyncCaller | None) -> None:
        self._call = call
        self._acall = acall

    @classmethod
    def from_objects(cls, objs: Sequence[FunctionTool], *args: Any, **kwargs: Any) -> _ToolsOfNodes:
        raise NotImplementedError("the tools are in Skillroute: write them there, with client.tools.put")

    @property
    def obj_node_mapping(self) -> dict[Any, Any]:
        """Nothing: nodes are not kept."""
        return {}

    def _add_object(self, obj: FunctionTool) -> None:
        raise NotImplementedError("the tools are in Skillroute: write them there, with client.tools.put")

    def to_node(self, obj: FunctionTool) -> TextNode:
        raise NotImplementedError("the tools are in Skillroute: find them with the retriever")

    def _from_node(self, node: BaseNode) -> FunctionTool:
        known = node.metadata
        tool = AgentTool(
            key=known["key"],
            server=known["server"],
            name=known["name"],
            model_name=known["model_name"],
            description=node.get_content(),
            input_schema=json.loads(known["input_schema"]),
        )
        return _function_tool(tool, self._call, self._acall)

    def persist(self, *_: Any, **__: Any) -> None:
        """Keep nothing: everything is in Skillroute."""


def _function_tool(tool: AgentTool, call: Caller | None, acall: AsyncCaller | None) -> FunctionTool:
    def run(**arguments: Any) -> Any:
        assert call is not None  # noqa: S101 (the function is not handed over without it)
        return call(tool, arguments)

    async def arun(**arguments: Any) -> Any:
        assert acall is not None  # noqa: S101
        return await acall(tool, arguments)

    metadata = _Metadata(name=tool.model_name, description=tool.description or tool.name, schema=tool.input_schema)
    return FunctionTool(fn=run if call else None, async_fn=arun if acall else None, metadata=metadata)


def _nodes(found: Iterable[FoundTool]) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(AgentTool.of(tool)), score=tool.score) for tool in found]


def _node(tool: AgentTool) -> TextNode:
    # Metadata of nodes is flat; none of it belongs into the text that models read.
    metadata = {
        "key": tool.key,
        "name": tool.name,
        "server": tool.server,
        "model_name": tool.model_name,
        "input_schema": json.dumps(tool.input_schema),
    }
    hidden = list(metadata)
    return TextNode(
        id_=tool.key,
        text=tool.description,
        metadata=metadata,
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=hidden,
    )
