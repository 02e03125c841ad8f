"""The stub of `mcp_server.py` over streamable HTTP, in a thread: it can go away, and come back without its sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

from tests.stubs.mcp_server import Server

_SESSION = "mcp-session-id"
_ids = count(1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.server.status:
            self._answer(self.server.status)
        elif message["method"] == "initialize":
            session = str(next(_ids))
            self.server.sessions.append(session)
            self._answer(200, message, session)
        elif _SESSION in self.headers and self.headers[_SESSION] not in self.server.sessions:
            self._answer(self.server.lost, error=self.server.lost_error)
        elif "id" not in message:
            self._answer(202)
        else:
            self._answer(200, message)

    def do_GET(self) -> None:
        self._answer(self.server.status or 405)

    do_DELETE = do_GET  # noqa: N815 (as the base names it)

    def _answer(
        self,
        status: int,
        message: dict[str, Any] | None = None,
        session: str | None = None,
        error: dict[str, Any] | None = None,
    ) -> None:
        body = b"" if error is None else json.dumps({"jsonrpc": "2.0", "error": error}).encode()
        if message is not None:
            answer = self.server.stub.answer(message["id"], message["method"], message.get("params") or {})
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **(answer or {})}).encode()
        self.send_response(status)
        if session:
            self.send_header(_SESSION, session)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")  # else a connection would outlive the server
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, status: int, lost: int, lost_error: dict[str, Any] | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.lost, self.lost_error = lost, lost_error
        self.stub = Server("good")
        self.status = status
        self.sessions: list[str] = []


@contextmanager
def serving(
    port: int = 0, *, status: int = 0, lost: int = 404, lost_error: dict[str, Any] | None = None
) -> Iterator[int]:
    """Serve on a port of loopback, any for 0, and yield it; with a status, that is the answer to everything.

    `lost` and `lost_error` are the answer to a request of a session that is not known.
    """
    server = _Http(port, status, lost, lost_error)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
