"""Spans of real requests, as an OTLP/HTTP receiver in this process gets them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from fastapi.testclient import TestClient
from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from skillroute.calling.model import JsonObject, Progress
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.tracing import Spans

from tests.api.mcp_calls import call
from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.worlds.calling import DONE, ScriptedServers, behind, callable_tool

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SECRET = "hunter2-XYZZY"


class Receiver:
    """An OTLP/HTTP receiver."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        received = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    received.extend(span for scope in resource.scope_spans for span in scope.spans)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/traces"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def named(self, name: str) -> Any:
        [found] = [span for span in self.spans if span.name == name]
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes, receiver: Receiver) -> Iterator[System]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(receiver.url)))
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), calls="one", trace="on") as system:
        vars(system.parts.tracing)["spans"] = Spans(provider)
        yield system
    provider.shutdown()


@pytest.fixture
def client(system: System) -> TestClient:
    return TestClient(app_over(system), raise_server_exceptions=False)


@pytest.fixture
def servers(system: System) -> ScriptedServers:
    return behind(system)[0]


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_request_is_a_span_of_the_trace_that_it_names(system: System, client: TestClient, receiver: Receiver) -> None:
    sent = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    body = {"query": f"jo@example.org password={SECRET}"}
    answer = client.post("/api/v1/search", json=body, headers=sent)
    span = receiver.named("POST /api/v1/search")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    found = attributes(span)
    assert (found["http.route"], found["http.response.status_code"]) == ("/api/v1/search", 200)
    assert (found["skillroute.kind"], found["skillroute.outcome"]) == ("search", "ok")
    assert found["skillroute.request_id"] == answer.headers["X-Request-Id"]
    assert SECRET not in str(receiver.spans) and "jo@example" not in str(receiver.spans)
    assert system.parts.tracing.events is not None and system.parts.tracing.events.flush()
    assert system.rows("SELECT trace_id FROM mcp.trace") == [[TRACE]]


def test_a_read_that_is_no_event_is_a_span_with_its_route(client: TestClient, receiver: Receiver) -> None:
    client.get("/api/v1/tools/987654")
    found = attributes(receiver.named("GET /api/v1/tools/{item_id}"))
    assert found["http.response.status_code"] == 404
    assert "skillroute.kind" not in found


def test_a_call_is_a_span_below_its_request_and_its_server_is_sent_no_id(
    system: System, client: TestClient, servers: ScriptedServers, receiver: Receiver
) -> None:
    seen: list[Any] = []

    async def look(_: Progress | None) -> JsonObject:
        seen.append(
            (trace.get_current_span().get_span_context().trace_id, context.get_value("suppress_instrumentation"))
        )
        return DONE

    servers.answers.append(look)
    tool = callable_tool(system)
    call(client, "call_tool", {"id": tool, "arguments": {"text": SECRET}})
    request, made = receiver.named("POST /mcp"), receiver.named("call")
    assert (made.trace_id, made.parent_span_id) == (request.trace_id, request.span_id)
    found = attributes(made)
    assert (found["skillroute.what"], found["skillroute.target.tool"], found["skillroute.outcome"]) == (
        "send",
        tool,
        "ok",
    )
    assert SECRET not in str(receiver.spans)
    assert servers.asked[0].headers == {}
    assert seen == [(int(request.trace_id.hex(), 16), True)]
    assert system.rows("SELECT trace_id FROM mcp.trace") == [[request.trace_id.hex()]]


def test_a_call_that_fails_is_a_span_with_an_error(
    system: System, client: TestClient, servers: ScriptedServers, receiver: Receiver
) -> None:
    servers.answers.append({"content": [{"type": "text", "text": SECRET}], "isError": True})
    call(client, "call_tool", {"id": callable_tool(system)})
    made = receiver.named("call")
    assert (made.status.code, attributes(made)["skillroute.code"]) == (2, "tool_error")
    assert SECRET not in str(receiver.spans)
