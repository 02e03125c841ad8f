"""Pydantic AI finds a deferred tool by Skillroute and calls it, with its model of functions."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from skillroute_client import AsyncSkillroute, Skillroute
from skillroute_client.adapters.pydantic_ai import tool_search, toolset

from adapter_tests.conftest import REQUEST, WANTED, Calls, anobody

ARGUMENTS = {"title": "Meeting with John", "start": "2026-11-24T09:00:00Z", "end": "2026-11-24T10:00:00Z"}
SEARCH = "search_tools"


class Model:
    """Searches first, then calls the wanted tool if it is there; remembers which tools it could have called."""

    def __init__(self, *queries: str) -> None:
        self.queries = list(queries)
        self.offered: list[dict[str, Any]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered.append({tool.name: tool for tool in info.function_tools})
        if len(self.offered) == 1:
            return ModelResponse(parts=[ToolCallPart(SEARCH, {"queries": self.queries})])
        if len(self.offered) == 2 and WANTED in self.offered[-1]:
            return ModelResponse(parts=[ToolCallPart(WANTED, ARGUMENTS)])
        return ModelResponse(parts=[TextPart("done")])


def run(model: Model, tools: Any, client: AsyncSkillroute | None = None, **options: Any) -> str:
    async def asked() -> str:
        async with client or AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as used:
            agent = Agent(FunctionModel(model), toolsets=[tools], capabilities=[tool_search(used, **options)])
            return (await agent.run(REQUEST)).output

    return asyncio.run(asked())


@pytest.mark.parametrize("is_awaited", [False, True], ids=["call", "acall"])
def test_an_agent_finds_a_tool_and_calls_it(skillroute: Skillroute, calls: Calls, is_awaited: bool) -> None:
    model = Model(REQUEST)
    call: Any = {"acall": calls.awaited} if is_awaited else {"call": calls}
    assert run(model, toolset(skillroute.tools.list(type="tool"), **call), limit=3) == "done"
    assert list(model.offered[0]) == [SEARCH]
    assert WANTED in model.offered[1]
    assert len(model.offered[1]) <= 1 + 3
    assert calls.made == [("calendar", "create_event", ARGUMENTS)]
    [known] = [tool for tool in skillroute.search(REQUEST).tools if tool.name == "create_event"]
    shown = model.offered[1][WANTED]
    assert (shown.description, shown.parameters_json_schema) == (known.description, known.input_schema)


def test_queries_are_needs(skillroute: Skillroute, calls: Calls) -> None:
    model = Model(REQUEST, "get me off this newsletter", " ")
    run(model, toolset(skillroute.tools.list(type="tool"), call=calls), limit=2)
    assert {WANTED, "mail__unsubscribe"} <= set(model.offered[1])


def test_only_tools_of_the_agent_are_found(skillroute: Skillroute, calls: Calls) -> None:
    model = Model(REQUEST)
    run(model, toolset(skillroute.tools.list(type="tool", server="mail"), call=calls))
    assert all(name == SEARCH or name.startswith("mail__") for name in model.offered[1])


def test_an_agent_goes_on_where_skillroute_does_not_answer(
    skillroute: Skillroute, calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    model = Model(REQUEST)
    assert run(model, toolset(skillroute.tools.list(type="tool"), call=calls), anobody()) == "done"
    assert [list(offered) for offered in model.offered] == [[SEARCH]] * 2
    assert "goes on without tools" in caplog.text


def test_a_toolset_needs_what_calls() -> None:
    with pytest.raises(ValueError, match="give call or acall"):
        toolset([])
