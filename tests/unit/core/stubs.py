"""A loopback HTTP server that plays a script, time that passes without waiting, and two services' wire formats."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import Retry

TITAN_V2 = "amazon.titan-embed-text-v2:0"


class Attempts:
    """Fails with each of `failures`, then returns "done"."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """What the server says. `hang` waits until the test is over; `drop` closes the connection without a word."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    drop: bool = False


class StubServer:
    """Answers with `script` first, one entry a request, then with what `usual` makes of the request."""

    def __init__(self, usual: Callable[[Request], Answer]) -> None:
        self.usual = usual
        self.script: deque[Answer] = deque()
        self.requests: list[Request] = []
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: Request) -> Answer:
        self.requests.append(request)
        try:
            answer = self.script.popleft()
        except IndexError:
            answer = self.usual(request)
        if answer.hang:
            self._over.wait()
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for the acknowledgement of its headers

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or "null")
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = stub._answer(Request(self.path, headers, body))
                if answer.hang or answer.drop:
                    self.close_connection = True
                    return
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_POST  # noqa: N815 (the names that http.server looks for)

            def log_message(self, *_: object) -> None:
                """Keep the test output clean."""

        return Handler


class FakeTime:
    """A clock that only `sleep` moves, and jitter that is always the widest."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.sleeps: list[float] = []

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now_s += seconds

    def deadline(self, timeout_s: float) -> Deadline:
        return Deadline(timeout_s, self.clock, callee=EMBEDDING_MODEL)

    def retry(self, **changes: Any) -> Retry:
        return Retry(clock=self.clock, sleep=self.sleep, uniform=lambda _, high: high, **changes)


def hashed(text: str, dimension: int) -> list[float]:
    """A vector that depends on the text, of norm 3: a server need not normalise."""
    [vector] = HashingEmbedder(dimension).embed([text], timeout_s=1)
    return [3 * x for x in vector]


def openai_answer(request: Request, dimension: int = 384) -> Answer:
    """As strict as the real one about what it takes, and free in the order of what it gives."""
    texts = request.body["input"]
    if any(not text.strip() for text in texts):
        return Answer(400, {"error": {"message": "input cannot be an empty string"}})
    if any(len(text.encode()) > 8192 for text in texts):
        return Answer(400, {"error": {"message": "maximum context length is 8192 tokens"}})
    data = [{"index": index, "embedding": hashed(text, dimension)} for index, text in enumerate(texts)]
    return Answer(body={"object": "list", "data": data[::-1], "model": request.body["model"]})


def bedrock_answer(request: Request) -> Answer:
    text = request.body["inputText"]
    if not text.strip() or len(text.encode()) > 8192:
        return bedrock_error(400, "ValidationException", "Malformed input request")
    return Answer(body={"embedding": hashed(text, request.body["dimensions"]), "inputTextTokenCount": 1})


def cohere_answer(request: Request) -> Answer:
    texts = request.body["texts"]
    if not 0 < len(texts) <= 96 or any(not text.strip() or len(text) > 2048 for text in texts):
        return bedrock_error(400, "ValidationException", "Malformed input request")
    return Answer(body={"embeddings": [hashed(text, 1024) for text in texts], "response_type": "embeddings_floats"})


def bedrock_error(status: int, code: str, message: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"message": message}, {"x-amzn-ErrorType": code, **named})
