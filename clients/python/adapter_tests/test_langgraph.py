"""LangChain's retriever, and an agent of langgraph-bigtool that finds a tool and calls it."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph_bigtool import create_agent
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.langchain import SkillrouteRetriever, aretrieve_tools, retrieve_tools, tool_registry

from adapter_tests.conftest import REQUEST, WANTED, Calls, anobody, nobody

ARGUMENTS = {"title": "Meeting with John", "start": "2026-11-24T09:00:00Z", "end": "2026-11-24T10:00:00Z"}


class Model(FakeMessagesListChatModel):
    """Says what it is to say, and remembers which tools it could have called each time."""

    bound: list[list[str]] = []  # noqa: RUF012 (pydantic copies it)

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound.append([tool.name for tool in tools])
        return self


def script(**asked: Any) -> Model:
    search = {"name": "retrieve_tools", "args": asked or {"query": REQUEST}, "id": "1"}
    call = {"name": WANTED, "args": ARGUMENTS, "id": "2"}
    return Model(
        responses=[
            AIMessage(content="", tool_calls=[search]),
            AIMessage(content="", tool_calls=[call]),
            AIMessage(content="done"),
        ]
    )


def assert_found_and_called(model: Model, calls: Calls, answer: dict[str, Any], most: int = 3) -> None:
    assert model.bound[0] == ["retrieve_tools"]
    assert WANTED in model.bound[1]
    assert len(model.bound[1]) <= 1 + most
    assert calls.made == [("calendar", "create_event", ARGUMENTS)]
    results = [message.content for message in answer["messages"] if isinstance(message, ToolMessage)]
    assert results[-1] == "called create_event"
    assert answer["messages"][-1].content == "done"


def test_an_agent_of_bigtool_finds_a_tool_and_calls_it(skillroute: Skillroute, calls: Calls) -> None:
    registry = tool_registry(skillroute.tools.list(type="tool"), call=calls)
    model = script()
    agent = create_agent(
        model, registry, retrieve_tools_function=retrieve_tools(skillroute, registry, limit=3)
    ).compile()
    assert_found_and_called(model, calls, agent.invoke({"messages": REQUEST}))


def test_an_agent_of_bigtool_that_is_awaited_does_the_same(skillroute: Skillroute, calls: Calls) -> None:
    model = script()

    async def run() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            registry = tool_registry([tool async for tool in client.tools.list(type="tool")], acall=calls.awaited)
            found = aretrieve_tools(client, registry, limit=3)
            agent = create_agent(model, registry, retrieve_tools_coroutine=found).compile()
            return await agent.ainvoke({"messages": REQUEST})

    assert_found_and_called(model, calls, asyncio.run(run()))


def test_an_agent_of_bigtool_may_state_needs(skillroute: Skillroute, calls: Calls) -> None:
    registry = tool_registry(skillroute.tools.list(type="tool"), call=calls)
    model = script(needs=[REQUEST])
    agent = create_agent(
        model, registry, retrieve_tools_function=retrieve_tools(skillroute, registry, limit=3)
    ).compile()
    assert_found_and_called(model, calls, agent.invoke({"messages": REQUEST}))


def test_the_retriever_finds_the_tools_of_needs(skillroute: Skillroute) -> None:
    retriever = SkillrouteRetriever(client=skillroute)
    found = retriever.invoke("plan my day", needs=[REQUEST, "get me off this newsletter"])
    names = {document.metadata["model_name"] for document in found}
    assert {WANTED, "mail__unsubscribe"} <= names
    awaited = asyncio.run(retriever.ainvoke("plan my day", needs=[REQUEST, "get me off this newsletter"]))
    assert {document.metadata["model_name"] for document in awaited} == names


def test_only_tools_of_the_registry_are_found(skillroute: Skillroute) -> None:
    keys = retrieve_tools(skillroute, {"create_event"}, limit=2, key=lambda tool: tool.name)(REQUEST)
    assert keys == ["create_event"]
    assert retrieve_tools(skillroute, {})(REQUEST) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"needs": [REQUEST, " ", *(f"find receipt {number}" for number in range(12))]},
        {"query": f"{REQUEST} {'x' * 2000}"},
    ],
    ids=["needs", "query"],
)
def test_a_model_that_asks_for_too_much_finds_what_it_asked_for_first(
    skillroute: Skillroute, asked: dict[str, Any]
) -> None:
    keys = retrieve_tools(skillroute, {WANTED}, key=lambda tool: tool.model_name)(**asked)
    assert keys == [WANTED]

    async def run() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            return await aretrieve_tools(client, {WANTED}, key=lambda tool: tool.model_name)(**asked)

    assert asyncio.run(run()) == [WANTED]


def test_an_agent_goes_on_where_skillroute_does_not_answer(
    skillroute: Skillroute, calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    registry = tool_registry(skillroute.tools.list(type="tool"), call=calls)
    model = Model(responses=[script().responses[0], AIMessage(content="I have no tool for this.")])
    agent = create_agent(model, registry, retrieve_tools_function=retrieve_tools(nobody(), registry)).compile()
    assert agent.invoke({"messages": REQUEST})["messages"][-1].content == "I have no tool for this."
    assert model.bound == [["retrieve_tools"]] * 2
    assert "goes on without tools" in caplog.text

    async def run() -> Any:
        async with anobody() as client:
            return await aretrieve_tools(client, registry)(REQUEST)

    assert asyncio.run(run()) == []


def test_a_registry_needs_what_calls(skillroute: Skillroute) -> None:
    with pytest.raises(ValueError, match="give call or acall"):
        tool_registry([])


def test_schemas_are_those_of_the_catalogue(skillroute: Skillroute, calls: Calls) -> None:
    [found] = [tool for tool in skillroute.search(REQUEST, limit=5).tools if tool.name == "create_event"]
    [tool] = tool_registry([found], call=calls).values()
    assert (tool.name, tool.description, tool.args) == (
        WANTED,
        found.description,
        (found.input_schema or {})["properties"],
    )


def test_the_retriever_finds_documents(skillroute: Skillroute) -> None:
    retriever = SkillrouteRetriever(client=skillroute, limit=3)
    found = retriever.invoke(REQUEST)
    assert found[0].metadata["model_name"] == WANTED
    assert len(found) <= 3
    assert asyncio.run(retriever.ainvoke(REQUEST)) == found

    async def awaited() -> Any:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            return await SkillrouteRetriever(client=skillroute, async_client=client, limit=3).ainvoke(REQUEST)

    assert asyncio.run(awaited()) == found
