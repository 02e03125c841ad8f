"""LlamaIndex's object retriever: tools that are found, described as the catalogue has them, and called."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from llama_index.core.objects import ObjectRetriever
from llama_index.core.schema import QueryBundle
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.llama_index import SkillrouteRetriever, tool_retriever

from adapter_tests.conftest import REQUEST, WANTED, Calls


def test_tools_are_found_described_and_called(skillroute: Skillroute, calls: Calls) -> None:
    retriever = tool_retriever(skillroute, call=calls, limit=3)
    assert isinstance(retriever, ObjectRetriever)
    found = retriever.retrieve(REQUEST)
    assert len(found) <= 3
    [tool] = [tool for tool in found if tool.metadata.name == WANTED]
    [known] = [tool for tool in skillroute.search(REQUEST).tools if tool.name == "create_event"]
    function = tool.metadata.to_openai_tool()["function"]
    assert (function["name"], function["description"], function["parameters"]) == (
        WANTED,
        known.description,
        known.input_schema,
    )
    assert tool.call(title="Meeting").content == "called create_event"
    assert asyncio.run(tool.acall(title="Meeting")).content == "called create_event"
    assert calls.made == [("calendar", "create_event", {"title": "Meeting"})] * 2


def test_what_is_awaited_finds_the_same(skillroute: Skillroute, calls: Calls) -> None:
    async def run() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            retriever = tool_retriever(skillroute, acall=calls.awaited, async_client=client)
            found = await retriever.aretrieve(REQUEST)
            [tool] = [tool for tool in found if tool.metadata.name == WANTED]
            return (await tool.acall(title="Meeting")).content

    assert asyncio.run(run()) == "called create_event"
    assert calls.made == [("calendar", "create_event", {"title": "Meeting"})]


def test_nodes_show_models_the_description_alone(skillroute: Skillroute) -> None:
    first = SkillrouteRetriever(skillroute, limit=1).retrieve(REQUEST)[0]
    assert first.node.metadata["model_name"] == WANTED
    assert first.score is not None
    assert first.node.get_content("llm") == first.node.get_content("none") != ""


def test_a_retriever_of_tools_needs_what_calls(skillroute: Skillroute) -> None:
    with pytest.raises(ValueError, match="give call or acall"):
        tool_retriever(skillroute)


def test_the_strings_of_a_bundle_are_needs(skillroute: Skillroute) -> None:
    bundle = QueryBundle("plan my day", custom_embedding_strs=[REQUEST, "get me off this newsletter"])
    found = SkillrouteRetriever(skillroute).retrieve(bundle)
    assert {WANTED, "mail__unsubscribe"} <= {node.metadata["model_name"] for node in found}
