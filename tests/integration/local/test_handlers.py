"""The pump over a Lambda endpoint, as `sam local start-lambda` is one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import pytest
from botocore.exceptions import BotoCoreError
from skillroute_local.handlers import HandlerFailed, Handlers
from skillroute_local.loopback import free_port
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment, sqs_client
from skillroute_local.supervisor import Pump

from tests.e2e.processes import eventually
from tests.events import delete_queues

Event = dict[str, Any]
Function = Callable[[Event], Any]


class Endpoint:
    """Lambda's API as far as one invokes: functions by name, and all that they were called with."""

    def __init__(self, **functions: Function) -> None:
        self.functions = functions
        self.calls: list[tuple[str, Event]] = []
        calls = self.calls

        class Requests(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                name = self.path.split("/")[3]
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                calls.append((name, event))
                answer = functions[name](event)
                self.send_response(200)
                if isinstance(answer, Exception):
                    self.send_header("x-amz-function-error", "Unhandled")
                    answer = {"errorType": type(answer).__name__, "errorMessage": str(answer)}
                body = json.dumps(answer).encode()
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def test_a_function_gets_the_event_and_its_answer_is_the_handlers() -> None:
    with Endpoint(RelayFunction=lambda event: {"published": event["n"]}) as endpoint:
        assert Handlers.behind(endpoint.url).relay({"n": 3}, None) == {"published": 3}
        assert endpoint.calls == [("RelayFunction", {"n": 3})]


def test_what_a_function_ends_with_is_raised() -> None:
    with (
        Endpoint(AggregateFunction=lambda _: RuntimeError("out of memory")) as endpoint,
        pytest.raises(HandlerFailed, match=r"AggregateFunction: .*out of memory"),
    ):
        Handlers.behind(endpoint.url).aggregate({}, None)
    assert len(endpoint.calls) == 1  # who repeats is the queue


def test_an_endpoint_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(BotoCoreError):
        Handlers.behind(f"http://127.0.0.1:{free_port()}").classify({"Records": []}, None)


@pytest.fixture
def sqs() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url
        delete_queues(server.url)


def test_the_pump_needs_no_database_then_and_deletes_only_what_succeeded(sqs: str) -> None:
    urls = ensure_queues(sqs)
    client = sqs_client(sqs)
    url = urls["skillroute-classify"]
    client.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "0"})

    def classify(event: Event) -> Event:
        failed = [each["messageId"] for each in event["Records"] if json.loads(each["body"]) == {"tool_id": 2}]
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}

    def left(queue: str) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = client.get_queue_attributes(QueueUrl=urls[queue], AttributeNames=names)["Attributes"]
        return sum(map(int, counts.values()))

    functions: dict[str, Function] = {"ClassifyFunction": classify, "RelayFunction": lambda _: {"failed": []}}
    with Endpoint(**functions) as endpoint:
        for tool_id in (1, 2, 3):
            client.send_message(QueueUrl=url, MessageBody=json.dumps({"tool_id": tool_id}))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_")}
        with Pump(kept | queue_environment(sqs, urls), "--lambda-endpoint", endpoint.url):
            eventually(lambda: left("skillroute-classify-dlq") == 1, "what always fails is given up")
            eventually(lambda: left("skillroute-classify") == 0, "nothing else is left")
        bodies = [
            each["body"] for name, event in endpoint.calls if name == "ClassifyFunction" for each in event["Records"]
        ]
        sources = [event["source"] for name, event in endpoint.calls if name == "RelayFunction"]
    client.close()
    assert sorted(bodies) == ['{"tool_id": 1}', *['{"tool_id": 2}'] * 5, '{"tool_id": 3}']
    assert sources[:1] == ["aws.scheduler"]
