"""A running Skillroute with the examples, which `tests/e2e/test_adapters.py` starts: `make test-adapters`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from skillroute_client import AsyncSkillroute, Retry, Skillroute
from skillroute_client.adapters.tools import AgentTool

REQUEST = "schedule a meeting with John tomorrow"
WANTED = "calendar__create_event"


@pytest.fixture(scope="session")
def skillroute() -> Iterator[Skillroute]:
    with Skillroute(os.environ["SKILLROUTE_URL"], token=None, sign_region=None) as client:
        yield client


NOWHERE = "http://127.0.0.1:9"


def nobody() -> Skillroute:
    """Return a client whose Skillroute does not answer: port 9 is nobody's, and refuses at once."""
    return Skillroute(NOWHERE, token=None, sign_region=None, retry=Retry(attempts=1))


def anobody() -> AsyncSkillroute:
    """Return the same, to be awaited."""
    return AsyncSkillroute(NOWHERE, token=None, sign_region=None, retry=Retry(attempts=1))


class Calls:
    """Calls tools: remembers what was called with what, and says so."""

    def __init__(self) -> None:
        self.made: list[tuple[str | None, str, Mapping[str, Any]]] = []

    def __call__(self, tool: AgentTool, arguments: Mapping[str, Any]) -> str:
        self.made.append((tool.server, tool.name, dict(arguments)))
        return f"called {tool.name}"

    async def awaited(self, tool: AgentTool, arguments: Mapping[str, Any]) -> str:
        return self(tool, arguments)


@pytest.fixture
def calls() -> Calls:
    return Calls()
