"""A TCP proxy between a pool and PostgreSQL that fails on demand, as networks, proxies and servers fail.

It reads PostgreSQL's protocol as far as it must, without TLS: where a login ends, and which message is a COMMIT.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from urllib.parse import urlsplit

from skillroute.core.postgres.address import Address

_TYPED_HEADER = 5  # a message's type and its length
_READY = b"Z"


class LostCommit(Enum):
    """What becomes of a COMMIT whose answer the client does not get."""

    STORED_AND_RESET = "the server commits; the connection is reset before its answer"
    STORED_AND_SILENT = "the server commits; the connection stays open, and nothing comes"
    NEVER_ARRIVED = "the connection is reset on both sides before the server gets it"
    SERVER_UNAWARE = "the connection is reset, and the server, which never gets it, does not notice"


class FaultyProxy:
    """Accepts connections and relays them to a PostgreSQL server, with the faults that a test asks for.

    Attributes
    ----------
    accepted : int
        Connections accepted so far.
    """

    def __init__(self, target: Address) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self._accepting = threading.Thread(target=self._accept)
        self._is_black_hole = False
        self.accepted = 0
        self.login_delay_s = 0.0
        self.commits: list[LostCommit] = []
        self.closing = threading.Event()

    def url(self, real: str) -> str:
        """Return a database's URL with the proxy's place instead of the server's."""
        parts = urlsplit(real)
        return parts._replace(
            netloc=f"{parts.username}:{parts.password}@127.0.0.1:{self._listener.getsockname()[1]}"
        ).geturl()

    def black_hole(self) -> None:
        """From now on, accept and never answer; established connections go silent too."""
        self.swallow_new()
        self.half_open()

    def swallow_new(self) -> None:
        """Accept new connections and never answer them; established ones work."""
        self._is_black_hole = True

    def half_open(self) -> None:
        """Let established connections go silent; new ones work."""
        with self._lock:
            for link in self._links:
                link.silent = True

    def heal(self) -> None:
        """Let new connections work again; those that are silent stay so."""
        self._is_black_hole = False
        self.login_delay_s = 0.0

    def slow_login(self, delay_s: float) -> None:
        """Delay each message of the server during a login."""
        self.login_delay_s = delay_s

    def lose_commits(self, *fates: LostCommit) -> None:
        """Let the next transactions that commit lose the answer, one after the other."""
        self.commits.extend(fates)

    def reset_within_answer(self) -> None:
        """Cut established connections in the middle of the next answer."""
        with self._lock:
            for link in self._links:
                link.is_cut = True

    def next_commit(self) -> LostCommit | None:
        """Return what shall become of the COMMIT that comes now; None where it goes through."""
        with self._lock:
            return self.commits.pop(0) if self.commits else None

    def start(self) -> None:
        """Accept connections from now on."""
        self._accepting.start()

    def close(self) -> None:
        """Close every connection, and wait for the threads."""
        self.closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()
        for link in self._links:
            link.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                link = _Link(self, client)
                with self._lock:
                    self.accepted += 1
                    self._links.append(link)
                if not self._is_black_hole:
                    link.relay(self._target)


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: FaultyProxy, client: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server: socket.socket | None = None
        self._threads: list[threading.Thread] = []
        self._fate: LostCommit | None = None
        self._is_logged_in = False
        self.silent = False
        self.is_cut = False

    def relay(self, target: Address) -> None:
        try:
            self._server = socket.create_connection((target.host, target.port))
        except OSError:  # the server is down
            _reset(self._client)
            return
        pumps = (self._to_server, self._to_client)
        self._threads = [threading.Thread(target=pump, args=(self._server,)) for pump in pumps]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        for sock in (self._client, self._server):
            if sock is not None:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for sock in (self._client, self._server):
            if sock is not None:
                sock.close()

    def _to_server(self, server: socket.socket) -> None:
        waiting, is_first = b"", True
        with suppress(OSError):
            while data := self._client.recv(65536):
                waiting += data
                while (size := _message_size(waiting, is_first)) is not None:
                    message, waiting, is_first = waiting[:size], waiting[size:], False
                    self._deliver(server, message)
        if self._fate is not LostCommit.SERVER_UNAWARE and not self.silent:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def _deliver(self, server: socket.socket, message: bytes) -> None:
        if message[:1] == b"Q" and message[_TYPED_HEADER:].startswith(b"COMMIT"):
            self._fate = self._proxy.next_commit()
        if self._fate in {LostCommit.NEVER_ARRIVED, LostCommit.SERVER_UNAWARE}:
            if self._fate is LostCommit.NEVER_ARRIVED:
                _reset(server)
            _reset(self._client)
        elif not self.silent:
            server.sendall(message)

    def _to_client(self, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if not self._is_logged_in:
                    self._proxy.closing.wait(self._proxy.login_delay_s)
                    self._is_logged_in = _ends_login(data)
                if self._fate is LostCommit.STORED_AND_RESET:
                    _reset(self._client)
                elif self._fate is LostCommit.STORED_AND_SILENT:
                    self.silent = True
                elif self.is_cut:
                    self._client.sendall(data[: len(data) // 2])
                    _reset(self._client)
                elif not self.silent:
                    self._client.sendall(data)
        if not self.silent:
            with suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)


def _message_size(data: bytes, is_first: bool) -> int | None:
    """Return how long the first message is; None while it is not all there. A startup message has no type."""
    header = 4 if is_first else _TYPED_HEADER
    if len(data) < header:
        return None
    size = int(struct.unpack_from("!i", data, header - 4)[0]) + header - 4
    return size if len(data) >= size else None


def _ends_login(data: bytes) -> bool:
    return data[-6:-5] == _READY


def _reset(sock: socket.socket) -> None:
    """End a connection by a reset, and wake up the thread that reads from it."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RD)
    sock.close()


@contextmanager
def faulty_proxy(real: str) -> Iterator[FaultyProxy]:
    """Lend a proxy before the server of a database's URL."""
    proxy = FaultyProxy(Address.parse(real))
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.close()
