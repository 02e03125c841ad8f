"""An agent of Strands finds a tool, has it from then on, and calls it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from skillroute_client import Skillroute
from skillroute_client.adapters.strands import tool_search
from skillroute_client.adapters.tools import AgentTool
from strands import Agent
from strands.models import Model

from adapter_tests.conftest import REQUEST, WANTED, Calls, nobody

ARGUMENTS = {"title": "Meeting with John", "start": "2026-11-24T09:00:00Z", "end": "2026-11-24T10:00:00Z"}
SEARCH = "search_tools"


class Scripted(Model):
    """Makes its calls one after another, then is done; remembers which tools it could have called each time."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls = list(calls)
        self.offered: list[dict[str, Any]] = []

    async def stream(self, messages: Any, tool_specs: Any = None, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.offered.append({spec["name"]: spec for spec in tool_specs or ()})
        yield {"messageStart": {"role": "assistant"}}
        if len(self.offered) <= len(self.calls):
            name, arguments = self.calls[len(self.offered) - 1]
            start = {"toolUse": {"name": name, "toolUseId": str(len(self.offered))}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if len(self.offered) <= len(self.calls) else "end_turn"}}

    def get_config(self) -> dict[str, Any]:
        return {}

    def update_config(self, **_: Any) -> None: ...

    async def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def results(agent: Agent) -> list[tuple[str, str]]:
    """Return the status and the text of each tool result of a conversation."""
    blocks = [
        block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block
    ]
    return [(block["status"], block["content"][0]["text"]) for block in blocks]


@pytest.mark.parametrize("is_awaited", [False, True], ids=["call", "acall"])
def test_an_agent_finds_a_tool_and_calls_it(skillroute: Skillroute, calls: Calls, is_awaited: bool) -> None:
    model = Scripted((SEARCH, {"query": REQUEST}), (WANTED, ARGUMENTS))
    call: Any = {"acall": calls.awaited} if is_awaited else {"call": calls}
    agent = Agent(model=model, tools=[tool_search(skillroute, **call, limit=3)], callback_handler=None)
    assert str(agent("plan it")).strip() == "done"
    assert list(model.offered[0]) == [SEARCH]
    assert WANTED in model.offered[1]
    assert len(model.offered[1]) <= 1 + 3
    assert calls.made == [("calendar", "create_event", ARGUMENTS)]
    assert results(agent)[-1] == ("success", "called create_event")
    [known] = [tool for tool in skillroute.search(REQUEST).tools if tool.name == "create_event"]
    shown = model.offered[1][WANTED]
    assert (shown["description"], shown["inputSchema"]["json"]["properties"].keys()) == (
        known.description,
        (known.input_schema or {})["properties"].keys(),
    )


def test_needs_are_served_by_one_search_and_found_tools_stay(skillroute: Skillroute, calls: Calls) -> None:
    needs = {"needs": [REQUEST, "get me off this newsletter"]}
    model = Scripted((SEARCH, needs), (SEARCH, needs))
    agent = Agent(model=model, tools=[tool_search(skillroute, calls)], callback_handler=None)
    agent("first")
    assert {WANTED, "mail__unsubscribe"} <= set(model.offered[1])
    assert model.offered[2].keys() == model.offered[1].keys()
    agent("second")
    assert WANTED in model.offered[-1]


def test_agents_share_a_search_and_no_tools(skillroute: Skillroute, calls: Calls) -> None:
    search = tool_search(skillroute, calls)
    Agent(model=Scripted((SEARCH, {"query": REQUEST})), tools=[search], callback_handler=None)("plan it")
    other = Scripted()
    Agent(model=other, tools=[search], callback_handler=None)("plan it")
    assert list(other.offered[0]) == [SEARCH]


def test_an_agent_goes_on_where_skillroute_or_a_tool_fails(
    skillroute: Skillroute, calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    model = Scripted((SEARCH, {"query": REQUEST}), (SEARCH, {}))
    agent = Agent(model=model, tools=[tool_search(nobody(), calls)], callback_handler=None)
    assert str(agent("plan it")).strip() == "done"
    assert [list(offered) for offered in model.offered] == [[SEARCH]] * 3
    assert [status for status, _ in results(agent)] == ["error", "error"]
    assert "goes on with the tools that it has" in caplog.text

    def broken(tool: AgentTool, arguments: Any) -> Any:
        raise OSError("no server")

    model = Scripted((SEARCH, {"query": REQUEST}), (WANTED, ARGUMENTS))
    agent = Agent(model=model, tools=[tool_search(skillroute, broken)], callback_handler=None)
    assert str(agent("plan it")).strip() == "done"
    assert results(agent)[-1] == ("error", "Error: no server")


def test_a_search_needs_what_calls(skillroute: Skillroute) -> None:
    with pytest.raises(ValueError, match="give call or acall"):
        tool_search(skillroute)
