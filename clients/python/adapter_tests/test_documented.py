"""The code of docs/clients.md runs as it stands there, over the client, the model and the calls that it leaves open."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import litellm
import pytest
from pydantic_ai.models.function import FunctionModel
from skillroute_client import AsyncSkillroute, Skillroute

from adapter_tests.conftest import REQUEST, WANTED, Calls, Endpoint
from adapter_tests.test_langgraph import assert_found_and_called, script
from adapter_tests.test_pydantic_ai import Model as DeferringModel
from adapter_tests.test_strands import ARGUMENTS, SEARCH, Scripted

PAGE = Path(__file__).parents[3] / "docs" / "clients.md"


def run_documented(framework: str, **given: Any) -> dict[str, Any]:
    """Run the code below a framework's name and return all that it defines."""
    code = re.search(rf"^\*\*{framework}.*?^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert code is not None, f"{PAGE.name} has no code for {framework}"
    exec(compile(code[1], f"{PAGE.name}: {framework}", "exec"), given)
    return given


def test_langgraph(skillroute: Skillroute, calls: Calls) -> None:
    model = script()
    documented = run_documented("LangGraph", client=skillroute, llm=model, call_over_mcp=calls)
    answer = documented["agent"].invoke({"messages": REQUEST})
    assert_found_and_called(model, calls, answer, most=5)


def test_litellm(skillroute: Skillroute, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.options["api_base"])
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    messages = [{"role": "user", "content": REQUEST}]
    documented = run_documented(
        "LiteLLM", client=skillroute, litellm=litellm, model=endpoint.options["model"], messages=messages
    )
    assert (documented["tool"].server, documented["tool"].name) == ("calendar", "create_event")
    assert WANTED in endpoint.last_offered


def test_pydantic_ai(skillroute: Skillroute, calls: Calls) -> None:
    model = DeferringModel(REQUEST)

    async def run() -> None:
        async with AsyncSkillroute(os.environ["SKILLROUTE_URL"], token=None) as client:
            given = {"client": skillroute, "async_client": client, "call_over_mcp": calls}
            documented = run_documented("Pydantic AI", model=FunctionModel(model), **given)
            await documented["agent"].run(REQUEST)

    asyncio.run(run())
    assert [name for _, name, _ in calls.made] == ["create_event"]


def test_strands(skillroute: Skillroute, calls: Calls) -> None:
    model = Scripted((SEARCH, {"query": REQUEST}), (WANTED, ARGUMENTS))
    documented = run_documented("Strands Agents", client=skillroute, model=model, call_over_mcp=calls)
    documented["agent"]("plan it")
    assert calls.made == [("calendar", "create_event", ARGUMENTS)]
