"""A running Skillroute with the examples, which `tests/e2e/test_adapters.py` starts: `make test-adapters`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from skillroute_client import AsyncSkillroute, Retry, Skillroute
from skillroute_client.adapters.tools import AgentTool

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else litellm asks the internet for prices when it is imported

REQUEST = "schedule a meeting with John tomorrow"
WANTED = "calendar__create_event"


@pytest.fixture(scope="session")
def skillroute() -> Iterator[Skillroute]:
    with Skillroute(os.environ["SKILLROUTE_URL"], token=None, sign_region=None) as client:
        yield client


ANSWER = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
CALL = {"id": "1", "type": "function", "function": {"name": WANTED, "arguments": "{}"}}

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


class Endpoint(ThreadingHTTPServer):
    """Takes chat completions as OpenAI does, calls the wanted tool where it is offered, and keeps each request."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def last_offered(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.asked[-1].get("tools", [])]

    @property
    def options(self) -> dict[str, Any]:
        return {"model": "openai/m", "api_base": f"http://127.0.0.1:{self.server_port}", "api_key": "none"}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Endpoint)
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        calls = {"tool_calls": [CALL]} if WANTED in self.server.last_offered else {}
        message = {"role": "assistant", "content": "", **calls}
        body = json.dumps({**ANSWER, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
