"""Requests to OpenAI's Responses API are valid for its SDK, and its answers are understood."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from openai.types.responses import ResponseToolSearchCall
from openai.types.responses.function_tool_param import FunctionToolParam
from openai.types.responses.response_input_item_param import ResponseInputItemParam
from openai.types.responses.response_tool_search_output_item_param_param import ResponseToolSearchOutputItemParamParam
from openai.types.responses.tool_search_tool_param import ToolSearchToolParam
from pydantic import TypeAdapter
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.openai import AsyncOpenAIToolSearch, OpenAIToolSearch

from adapter_tests.conftest import REQUEST, WANTED


def asked(arguments: Any, execution: str = "client") -> ResponseToolSearchCall:
    return ResponseToolSearchCall.model_validate(
        {
            "type": "tool_search_call",
            "id": "tsc_1",
            "call_id": "call_1",
            "execution": execution,
            "status": "completed",
            "arguments": arguments,
        }
    )


def test_the_definition_is_the_sdks(skillroute: Skillroute) -> None:
    definition = OpenAIToolSearch(skillroute).definition()
    assert TypeAdapter(ToolSearchToolParam).validate_python(definition) == definition


@pytest.mark.parametrize("arguments", [{"query": REQUEST}, '{"query": "' + REQUEST + '"}'], ids=["object", "text"])
def test_a_search_is_answered_with_definitions(skillroute: Skillroute, arguments: Any) -> None:
    search = OpenAIToolSearch(skillroute, limit=3)
    item = asked(arguments)
    assert search.is_search(item)
    assert not search.is_search(asked(arguments, execution="server"))
    output = search.output(item)
    assert output["tools"][0]["name"] == WANTED
    assert len(output["tools"]) <= 3
    TypeAdapter(ResponseInputItemParam).validate_python(output)
    read: Any = TypeAdapter(ResponseToolSearchOutputItemParamParam).validate_python(output)
    assert {**read, "tools": output["tools"]} == output
    for tool in output["tools"]:
        assert TypeAdapter(FunctionToolParam).validate_python(tool) == tool
    [known] = [tool for tool in skillroute.search(REQUEST).tools if tool.name == "create_event"]
    assert (output["tools"][0]["parameters"], output["call_id"]) == (known.input_schema, "call_1")
    tool = search.tool(WANTED)
    assert (tool.server, tool.name, tool.key) == ("calendar", "create_event", str(known.db_id))


def test_needs_are_served_by_one_search(skillroute: Skillroute) -> None:
    output = OpenAIToolSearch(skillroute).output(asked({"needs": [REQUEST, "get me off this newsletter"]}))
    assert {WANTED, "mail__unsubscribe"} <= {tool["name"] for tool in output["tools"]}


def test_a_limit_of_the_model_counts_and_nonsense_does_not(skillroute: Skillroute) -> None:
    search = OpenAIToolSearch(skillroute, limit=2)
    for limit, most in ((1, 1), (0, 2), (True, 2), ("many", 2), (10**6, 50)):
        assert 1 <= len(search.output(asked({"query": REQUEST, "limit": limit}))["tools"]) <= most
    with pytest.raises(ValueError, match="need a query"):
        search.output(asked({}))


def test_what_is_awaited_does_the_same(skillroute: Skillroute) -> None:
    item = asked({"query": REQUEST})

    async def run() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            return await AsyncOpenAIToolSearch(client).output(item)

    assert asyncio.run(run()) == OpenAIToolSearch(skillroute).output(item)
