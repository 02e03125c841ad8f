"""Requests to Claude are valid for Anthropic's SDK, and its answers are understood."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from anthropic.types import Message, ToolParam, ToolResultBlockParam
from pydantic import TypeAdapter
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.claude import AsyncClaudeToolSearch, ClaudeToolSearch

from adapter_tests.conftest import REQUEST, WANTED

_RESULT: TypeAdapter[Any] = TypeAdapter(ToolResultBlockParam)  # kept: its lists are read only when they are walked


def answer(*blocks: dict[str, Any]) -> Message:
    """Return an answer of Claude as the SDK has it."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    return Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": "Let me see."}, *blocks],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": usage,
        }
    )


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}


def as_the_sdk_takes(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as the SDK's type reads it, with nothing that the type does not have."""
    read: Any = _RESULT.validate_python(result)
    return {**read, "content": read["content"] if isinstance(read["content"], str) else list(read["content"])}


def test_definitions_are_the_search_and_all_tools_deferred(skillroute: Skillroute) -> None:
    definitions = ClaudeToolSearch(skillroute).definitions()
    for definition in definitions:
        assert TypeAdapter(ToolParam).validate_python(definition) == definition
    assert "defer_loading" not in definitions[0]
    assert all(definition["defer_loading"] for definition in definitions[1:])
    assert len({definition["name"] for definition in definitions}) == len(definitions)
    assert len(definitions) == 1 + len(list(skillroute.tools.list(type="tool")))


def test_a_search_is_answered_with_references_that_lead_to_tools(skillroute: Skillroute) -> None:
    search = ClaudeToolSearch(skillroute, limit=3)
    sent = {definition["name"] for definition in search.definitions()}
    message = answer(call("search_tools", {"query": REQUEST}))
    [block] = [block for block in message.content if search.is_search(block)]
    result = search.result(block)
    assert as_the_sdk_takes(result) == result
    names = [reference["tool_name"] for reference in result["content"]]
    assert (result["tool_use_id"], names[0], {reference["type"] for reference in result["content"]}) == (
        "toolu_1",
        WANTED,
        {"tool_reference"},
    )
    assert set(names) <= sent
    assert len(names) <= 3
    [used] = [block for block in answer(call(WANTED, {"title": "x"})).content if block.type == "tool_use"]
    assert not search.is_search(used)
    tool = search.tool(used.name)
    assert (tool.server, tool.name) == ("calendar", "create_event")


def test_only_what_was_sent_is_referred_to(skillroute: Skillroute) -> None:
    search = ClaudeToolSearch(skillroute)
    search.definitions(server="calendar")
    found = search.result(call("search_tools", {"query": REQUEST, "limit": 50}))
    assert {reference["tool_name"].partition("__")[0] for reference in found["content"]} == {"calendar"}
    search.definitions(server="nowhere")
    nothing = search.result(call("search_tools", {"query": REQUEST}))
    assert as_the_sdk_takes(nothing)["content"].startswith("No tool fits")


def test_what_fails_is_told_as_an_error(skillroute: Skillroute) -> None:
    result = ClaudeToolSearch(skillroute).result(call("search_tools", {"words": "x"}))
    assert as_the_sdk_takes(result) == result
    assert result["is_error"]
    assert "need a query" in result["content"]
    with Skillroute("http://127.0.0.1:9", token=None, sleep=lambda _: None) as nobody:
        unreachable = ClaudeToolSearch(nobody).result(call("search_tools", {"query": "x"}))
    assert "does not answer" in unreachable["content"]


def test_what_is_awaited_does_the_same(skillroute: Skillroute) -> None:
    block = call("search_tools", {"query": REQUEST})
    blocking = ClaudeToolSearch(skillroute)

    async def run() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            search = AsyncClaudeToolSearch(client)
            return await search.definitions(), await search.result(block)

    assert asyncio.run(run()) == (blocking.definitions(), blocking.result(block))
