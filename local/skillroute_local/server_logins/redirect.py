"""The address on this machine that a browser comes back to from a login: it hears one answer, of the right state."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from skillroute.identity.page import HEADERS, page

from skillroute_local.errors import LocalError
from skillroute_local.loopback import HOST, listen

PATH = "/callback"
_READ_S = 10.0


class Redirect:
    """A server on loopback, for the length of one login.

    Attributes
    ----------
    uri : str
        Where the browser is to come back to.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._state = ""
        self._lock = threading.Lock()
        self._came = threading.Event()
        self._answer: dict[str, str] = {}

    def expect(self, state: str) -> None:
        """Have it take the answer that carries a state, which only the page of this login was given."""
        self._state = state

    def wait(self, timeout_s: float) -> dict[str, str] | None:
        """Return the parameters that the browser came back with; None where it has not in time."""
        return self._answer if self._came.wait(timeout_s) else None

    def take(self, query: str) -> tuple[int, str, str]:
        """Take what came, and return status, title and sentence of the page."""
        values = {name: given[0] for name, given in parse_qs(query, keep_blank_values=True).items()}
        given = values.get("state", "").encode("utf-8")
        if not self._state or not secrets.compare_digest(given, self._state.encode("utf-8")):
            return 400, "Not known", "This is not the login that Skillroute waits for. Begin it again in the terminal."
        with self._lock:
            if self._came.is_set():
                return 400, "Finished before", "This login was finished before. The terminal says how."
            self._answer = values
            self._came.set()
        if "error" in values:
            return 200, "Not logged in", "The login was refused. The terminal says more. You can close this page."
        return 200, "Almost done", "The terminal says whether you are logged in. You can close this page."


@contextmanager
def redirect(port: int | None) -> Iterator[Redirect]:
    """Listen on loopback for the length of a block.

    Parameters
    ----------
    port : int or None
        That the client was registered with, where it was: many authorization servers compare it, too. If it is in
        use, another one is taken, and the client must be registered again.
    """
    try:
        sock = listen(port or 0)
    except LocalError:
        sock = listen()
    heard = Redirect(f"http://{HOST}:{sock.getsockname()[1]}{PATH}")
    server = ThreadingHTTPServer((HOST, 0), _handler(heard), bind_and_activate=False)
    server.socket.close()
    server.socket, server.server_address = sock, sock.getsockname()
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(heard: Redirect) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _READ_S

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path != PATH:
                self._answered(404, "Not here", "This address is for coming back from a login.")
            else:
                self._answered(*heard.take(parts.query))

        def _answered(self, status: int, title: str, sentence: str) -> None:
            body = page(title, sentence).encode("utf-8")
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **HEADERS}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: the address has a code in it."""

    return Handler
