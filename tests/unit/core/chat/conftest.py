"""The language models under test, each against a stub of its service on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from skillroute.core.chat.bedrock import BedrockChat
from skillroute.core.chat.calls import CHAT_RETRY
from skillroute.core.chat.openai import OpenAIChat
from skillroute.core.time.retry import Retry

from tests.unit.core.stubs import Answer, FakeTime, StubServer


@pytest.fixture
def chat_retry(time: FakeTime) -> Retry:
    return replace(CHAT_RETRY, clock=time.clock, sleep=time.sleep, uniform=lambda _, high: high)


@pytest.fixture
def server() -> Iterator[StubServer]:
    """Answers nothing of its own: every test scripts what it needs."""
    server = StubServer(lambda _: Answer(418, {"error": {"message": "nothing is scripted"}}))
    yield server
    server.close()


@pytest.fixture
def openai_chat(server: StubServer, chat_retry: Retry) -> Iterator[Callable[..., OpenAIChat]]:
    """Make one against the stub; keyword arguments go to its constructor."""
    made: list[OpenAIChat] = []

    def make(**arguments: Any) -> OpenAIChat:
        defaults = {"base_url": f"{server.url}/v1", "api_key": "sk-of-the-test", "retry": chat_retry}
        made.append(OpenAIChat("gpt-4o-mini", **{**defaults, **arguments}))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


@pytest.fixture
def bedrock_chat(server: StubServer, chat_retry: Retry) -> Iterator[Callable[..., BedrockChat]]:
    """Make one against the stub; keyword arguments go to its constructor."""
    made: list[BedrockChat] = []

    def make(**arguments: Any) -> BedrockChat:
        defaults = {"region": "eu-central-1", "endpoint_url": server.url, "retry": chat_retry}
        made.append(BedrockChat("anthropic.claude-3-haiku", **{**defaults, **arguments}))
        return made[-1]

    yield make
    for chat in made:
        chat.close()
