"""The stub of `mcp_server.py` over the older SSE alone: what is posted to its address is 405, as of old servers."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.stubs.mcp_server import Server


class _Handler(BaseHTTPRequestHandler):
    server: _Sse

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._event("endpoint", "/messages?session_id=1")
        while (answer := self.server.answers.get()) is not None:
            self._event("message", answer)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_here = self.path.startswith("/messages")
        method = message["method"]
        status = (self.server.statuses.get(method) or 202) if is_here else 405
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()
        if status == 202 and "id" in message:
            answer = self.server.stub.answer(message["id"], method, message.get("params") or {})
            self.server.answers.put(json.dumps({"jsonrpc": "2.0", "id": message["id"], **(answer or {})}))

    def _event(self, kind: str, data: str) -> None:
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class _Sse(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, statuses: dict[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stub = Server("good")
        self.statuses = statuses
        self.answers: queue.Queue[str | None] = queue.Queue()


@contextmanager
def serving_sse(statuses: dict[str, int] | None = None) -> Iterator[str]:
    """Serve on a port of loopback and yield the address; `statuses` has that of each method that is refused."""
    server = _Sse(statuses or {})
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sse"
    finally:
        server.answers.put(None)
        server.shutdown()
        server.server_close()
        thread.join()
