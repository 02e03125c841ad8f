"""Calls that function `call` makes for function `mcp`, over the interface by which functions are invoked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.calling.invocation import MAX_NOTICES, CallEvent, CallsOfFunction, answer_event, event_of
from skillroute.calling.model import JsonObject, Progress
from skillroute.calling.tool_call import ToolCall
from skillroute.core.caller import Caller, Scope
from skillroute.core.trace.model import TraceEvent
from skillroute.core.trace.noted import Origin

from tests.builders import System
from tests.doubles import LogRecords
from tests.worlds.calling import DONE, ScriptedServers, behind, callable_tool

ANN = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}), name="ann", agent="BlueLake", groups=frozenset({"eng"}))
Respond = Callable[[Any], tuple[int, dict[str, str], Any]]


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture
def servers(system: System) -> ScriptedServers:
    return behind(system)[0]


@contextmanager
def lambda_at(respond: Respond) -> Iterator[str]:
    """Answer invocations as Lambda does, with what `respond` returns: status, headers and payload."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/2015-03-31/functions/call/invocations"
            event = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, payload = respond(event)
            body = json.dumps(payload).encode()
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def made_by(system: System) -> Respond:
    return lambda event: (200, {}, answer_event(event, system.parts.calling.here, lambda: 20.0))


class Recorded:
    """Remembers events."""

    searches = True

    def __init__(self) -> None:
        self.events: list[TraceEvent] = []

    def arguments(self, arguments: object) -> str | None:
        return None

    def record(self, event: TraceEvent) -> None:
        self.events.append(event)

    def close(self) -> None:
        pass


def calls(system: System, url: str, traces: Recorded | None = None) -> CallsOfFunction:
    return CallsOfFunction("call", system.parts.calling.in_flight, endpoint_url=url, traces=traces)


def test_the_function_makes_the_call_for_the_same_caller(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system, caller=Caller(org_id="acme", scopes=frozenset({Scope.ADMIN})))
    noted: list[tuple[float, float | None, str | None]] = []

    async def slowly(progress: Progress | None) -> JsonObject:
        assert progress is not None
        progress(1.0, 2.0, "half")
        return DONE

    servers.answers.append(slowly)
    with lambda_at(made_by(system)) as url:
        answer = calls(system, url)(ToolCall(id_, {"to": "é"}), ANN, lambda *notice: noted.append(notice))
    assert answer == DONE
    assert noted == [(1.0, 2.0, "half")]
    [asked] = servers.asked
    assert asked.arguments == {"to": "é"}
    assert asked.session_key == "acme/ann"


def test_an_event_says_who_calls_what_with_which_token_and_by_when() -> None:
    event = event_of(ToolCall(7, {"a": [1]}, "read", "token", "key", 3.5), ANN)
    assert json.loads(json.dumps(event)) == {
        "caller": {"org_id": "acme", "name": "ann", "agent": "BlueLake", "scopes": ["search"],
            "roles": [], "groups": ["eng"], "is_person": False,
        },
        "tool_id": 7, "arguments": {"a": [1]}, "form": "read", "token": "token", "key": "key", "seconds": 3.5,
        "request_id": None, "trace_id": None, "traceparent": None, "base_url": None,
    }  # fmt: skip


def test_a_call_by_the_function_knows_how_its_caller_came_here() -> None:
    event = CallEvent.model_validate(event_of(ToolCall(7, {}, base_url="https://us.test"), ANN))
    assert event.call().base_url == "https://us.test"


def test_a_call_by_the_function_is_one_event_of_the_request_that_it_is_part_of(
    system: System, servers: ScriptedServers
) -> None:
    recorded = Recorded()
    vars(system.parts.tracing)["events"] = recorded
    call = ToolCall(callable_tool(system), {"to": "ann"}, origin=Origin("mcp", "request-1", "1" * 32))
    with lambda_at(made_by(system)) as url:
        calls(system, url, recorded)(call, ANN)
    [event] = recorded.events
    assert (event.kind, event.outcome, event.door, event.what) == ("call", "ok", "function", "send")
    assert (event.caller.name, event.request_id, event.trace_id) == ("ann", "request-1", "1" * 32)


@pytest.mark.parametrize(
    ("respond", "outcome", "code"),
    [
        (lambda _: (429, {"x-amzn-errortype": "TooManyRequestsException"}, {}), "refused", "too_many"),
        (lambda _: (200, {"X-Amz-Function-Error": "Unhandled"}, {}), "failed", "broken"),
    ],
)
def test_a_call_that_the_function_did_not_make_is_an_event_of_the_door(
    system: System, respond: Respond, outcome: str, code: str
) -> None:
    recorded = Recorded()
    with lambda_at(respond) as url:
        calls(system, url, recorded)(ToolCall(1, {}), ANN)
    [event] = recorded.events
    assert (event.outcome, event.code, event.door, event.what) == (outcome, code, "mcp", "call_tool")


@pytest.mark.parametrize(
    "event", [{}, {"caller": {}, "tool_id": 0}, {"caller": {"org": "acme"}, "tool_id": 1}, {"Records": []}, []]
)
def test_an_event_of_another_kind_is_refused(system: System, servers: ScriptedServers, event: object) -> None:
    with pytest.raises(ValidationError):
        answer_event(event, system.parts.calling.here, lambda: 20.0)
    assert servers.asked == []


def test_a_call_ends_before_its_invocation(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)
    for seconds, left in ((None, 4.0), (30.0, 4.0), (3.0, 100.0)):
        answer_event(
            event_of(ToolCall(id_, {}, seconds=seconds), ANN), system.parts.calling.here, lambda left=left: left
        )
    assert [asked.limits.seconds <= most for asked, most in zip(servers.asked, (4.0, 4.0, 3.0), strict=True)] == [
        True
    ] * 3


def test_of_many_notices_the_first_and_the_last_are_kept(system: System, servers: ScriptedServers) -> None:
    async def often(progress: Progress | None) -> JsonObject:
        assert progress is not None
        for step in range(1000):
            progress(float(step), None, None)
        return DONE

    servers.answers.append(often)
    answer = answer_event(event_of(ToolCall(callable_tool(system), {}), ANN), system.parts.calling.here, lambda: 20.0)
    assert len(answer["progress"]) == MAX_NOTICES
    assert (answer["progress"][0][0], answer["progress"][-1][0]) == (0.0, 999.0)


@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (lambda _: (429, {"x-amzn-errortype": "TooManyRequestsException"}, {}), "too many calls are under way"),
        (lambda _: (500, {"x-amzn-errortype": "ServiceException"}, {}), "its log says why"),
        (lambda _: (200, {"X-Amz-Function-Error": "Unhandled"}, {"errorMessage": "boom token-1"}), "its log says why"),
        (lambda _: (200, {}, {"result": None}), "its log says why"),
        (lambda _: (200, {}, "no object"), "its log says why"),
    ],
)
def test_a_function_that_fails_is_an_answer_that_says_so(
    system: System, respond: Respond, reason: str, log: LogRecords
) -> None:
    with lambda_at(respond) as url:
        answer = calls(system, url)(ToolCall(1, {"secret": "argument-1"}, token="token-1"), ANN)
    assert answer["isError"] is True
    assert reason in answer["content"][0]["text"]
    assert not any(secret in repr([vars(record) for record in log.records]) for secret in ("token-1", "argument-1"))
