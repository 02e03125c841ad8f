"""LiteLLM gets the tools that fit before it asks a model; a model's endpoint here remembers what it was sent."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import litellm
import pytest
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.litellm import AsyncLiteLLMToolSearch, LiteLLMToolSearch, ToolFilter

from adapter_tests.conftest import REQUEST, WANTED, Endpoint, anobody, nobody

MESSAGES = [{"role": "system", "content": "You help."}, {"role": "user", "content": REQUEST}]
OWN = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}


def definitions(client: Skillroute) -> list[dict[str, Any]]:
    needs = ("get me off this newsletter", "create an issue", "query a database", REQUEST)
    chosen = [LiteLLMToolSearch(client).tools_for([{"role": "user", "content": need}]) or [] for need in needs]
    tools = {tool["function"]["name"]: tool for tools in chosen for tool in tools}
    return [*tools.values(), OWN]


def ask(endpoint: Endpoint, client: AsyncSkillroute, offered: Any, **more: Any) -> list[str]:
    """Ask a model with a filter among the callbacks, and return the names of the tools that it got."""

    async def run() -> None:
        with Skillroute(os.environ["SKILLROUTE_URL"], token=None) as blocking:
            tool_filter = ToolFilter(client, blocking.tools.list(type="tool"), limit=3)
        async with client:
            litellm.callbacks = [tool_filter]
            await litellm.acompletion(**{"messages": MESSAGES, **endpoint.options, "tools": offered, **more})

    try:
        asyncio.run(run())
    finally:
        litellm.callbacks = []
    return endpoint.last_offered


def running() -> AsyncSkillroute:
    return AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None)


def test_the_model_gets_the_tools_that_fit_and_calls_one(skillroute: Skillroute, endpoint: Endpoint) -> None:
    search = LiteLLMToolSearch(skillroute, limit=3)
    answer = litellm.completion(messages=MESSAGES, tools=search.tools_for(MESSAGES), **endpoint.options)
    assert WANTED in endpoint.last_offered
    assert len(endpoint.last_offered) <= 3
    [call] = answer.choices[0].message.tool_calls
    tool = search.tool(call.function.name)
    assert (tool.server, tool.name) == ("calendar", "create_event")
    [known] = [found for found in skillroute.search(REQUEST).tools if found.name == "create_event"]
    [sent] = [each["function"] for each in endpoint.asked[-1]["tools"] if each["function"]["name"] == WANTED]
    assert (sent["description"], sent["parameters"]) == (known.description, known.input_schema)


def test_what_is_awaited_chooses_the_same(skillroute: Skillroute) -> None:
    async def run() -> Any:
        async with running() as client:
            return await AsyncLiteLLMToolSearch(client).tools_for(MESSAGES)

    assert asyncio.run(run()) == LiteLLMToolSearch(skillroute).tools_for(MESSAGES)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": REQUEST}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}],
        f"{REQUEST}: {'x ' * 4000}",
    ],
    ids=["parts", "long"],
)
def test_what_the_user_asked_last_is_searched_for(skillroute: Skillroute, content: Any) -> None:
    messages = [*MESSAGES, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": content}]
    tools = LiteLLMToolSearch(skillroute, limit=50).tools_for([*messages, {"role": "tool", "content": "done"}])
    assert WANTED in [tool["function"]["name"] for tool in tools or []]


def test_a_model_is_asked_without_tools_where_skillroute_does_not_answer(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    tools = LiteLLMToolSearch(nobody()).tools_for(MESSAGES)
    litellm.completion(messages=MESSAGES, tools=tools, **endpoint.options)
    assert endpoint.last_offered == []
    assert "asked without tools" in caplog.text
    assert asyncio.run(AsyncLiteLLMToolSearch(anobody()).tools_for(MESSAGES)) is None
    assert LiteLLMToolSearch(nobody()).tools_for([{"role": "system", "content": "You help."}]) is None


def test_a_filter_leaves_out_what_does_not_fit(skillroute: Skillroute, endpoint: Endpoint) -> None:
    offered = definitions(skillroute)
    assert len(offered) > 10
    sent = ask(endpoint, running(), offered)
    assert {WANTED, "read_file"} <= set(sent)
    assert len(sent) <= 1 + 3


def test_a_filter_keeps_what_was_called_and_what_must_be(skillroute: Skillroute, endpoint: Endpoint) -> None:
    called, forced = "mail__unsubscribe", "mail__archive"
    function = {**OWN["function"], "name": forced}  # type: ignore[dict-item]
    offered = [*definitions(skillroute), {"type": "function", "function": function}]
    call = {"id": "1", "type": "function", "function": {"name": called, "arguments": "{}"}}
    history = [
        {"role": "user", "content": "get me off this newsletter"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        *MESSAGES,
    ]
    choice = {"type": "function", "function": {"name": forced}}
    assert called not in ask(endpoint, running(), offered)
    assert {called, forced, WANTED} <= set(ask(endpoint, running(), offered, messages=history, tool_choice=choice))


def test_a_filter_leaves_all_where_skillroute_does_not_answer(
    skillroute: Skillroute, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    offered = definitions(skillroute)
    assert ask(endpoint, anobody(), offered) == [tool["function"]["name"] for tool in offered]
    assert "gets all tools" in caplog.text
