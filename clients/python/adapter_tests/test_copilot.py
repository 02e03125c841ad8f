"""A session of Copilot's SDK asks Skillroute for the tools that it holds back; what the runtime would say is played.

The runtime itself is a program of GitHub's that needs an account, so its two calls are answered here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import pytest
from copilot.session import CopilotSession
from skillroute_client import AsyncSkillroute
from skillroute_client.adapters.copilot import SEARCH_NAME, tool_search

from adapter_tests.conftest import REQUEST, anobody

MCP = {"deferLoading": True, "mcpServerName": "calendar", "mcpToolName": "create_event"}
TOOLS = [
    {"name": "calendar-create_event", "description": "Create an event.", **MCP},
    {"name": "mail__unsubscribe", "description": "Unsubscribe.", "deferLoading": True},
    {"name": "other-create_event", "description": "Create.", **MCP, "mcpServerName": "other"},
]


class Runtime:
    """Answers a session as the runtime does, and keeps what it was told of tool calls."""

    def __init__(self, tools: list[dict[str, Any]]) -> None:
        self.tools = tools
        self.told: list[Mapping[str, Any]] = []

    async def request(self, method: str, params: Mapping[str, Any], **_: Any) -> Any:
        if method == "session.tools.getCurrentMetadata":
            return {"tools": self.tools}
        assert method == "session.tools.handlePendingToolCall", method
        self.told.append(params)
        return {"success": True}


def search(arguments: Any, client: AsyncSkillroute | None = None, tools: Any = TOOLS, **options: Any) -> Any:
    """Let a session carry out the model's call of the search, and return what it tells the runtime."""

    async def run() -> Any:
        runtime = Runtime(tools)
        async with client or AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as used:
            session = CopilotSession("s", runtime)
            tool = tool_search(used, **options)
            assert tool.handler is not None
            session._register_tools([tool])
            call = asyncio.create_task(
                session._execute_tool_and_respond("r", SEARCH_NAME, "c", arguments, tool.handler)
            )
            session._pending_external_tools["r"] = call
            await call
        [told] = runtime.told
        return told["result"]

    return asyncio.run(run())


def test_it_stands_in_for_the_search_of_the_runtime() -> None:
    tool = tool_search(anobody())
    assert (tool.name, tool.overrides_built_in_tool, tool.defer) == ("tool_search_tool", True, "never")


def test_tools_of_the_session_are_found_by_server_or_by_name() -> None:
    told = search({"needs": [REQUEST, "get me off this newsletter"]})
    assert set(told["toolReferences"]) == {"calendar-create_event", "mail__unsubscribe"}
    assert "calendar-create_event" in told["textResultForLlm"]
    assert told["resultType"] == "success"


def test_no_more_are_found_than_asked_for() -> None:
    assert len(search({"needs": [REQUEST, "get me off this newsletter"], "limit": 1})["toolReferences"]) == 1


@pytest.mark.parametrize("tools", [[], [{"name": "read_file", "description": "Read a file."}]])
def test_what_the_session_lacks_is_not_found(tools: Any) -> None:
    told = search({"query": REQUEST}, tools=tools)
    assert (told["toolReferences"], told["resultType"]) == ([], "success")
    assert "No tool fits" in told["textResultForLlm"]


def test_a_session_goes_on_where_skillroute_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    told = search({"query": REQUEST}, anobody())
    assert told["resultType"] == "failure"
    assert not told.get("toolReferences")
    assert "goes on with the tools that it has" in caplog.text
    assert search({})["resultType"] == "failure"
