"""A light load client: one thread, one selector, raw HTTP/1.1 over kept connections, in a process of its own.

Each connection sends its next request as soon as it has the last answer (closed loop). Answers are not parsed while
the load runs: only their ends are kept, and the times in their metadata are read from these afterwards.

    python -m benchmarks.standing.client PORT CONCURRENCY SECONDS REQUESTS.jsonl [WARMUP_SECONDS]

Each line of REQUESTS.jsonl is a list of requests ``{"kind", "method", "path", "body", "headers"}`` that one connection
sends one after the other; a connection that is through takes the next line, and after the last one the first. `body`
and `headers` may be left out. Times are told by kind. Prints one JSON object.
"""

from __future__ import annotations

import itertools
import json
import re
import resource
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

_TAIL = 900  # the metadata of an answer is its last 600 bytes or so
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_TIME = re.compile(rb'"(\w+)_time_ms":([0-9.e-]+)')


class Request(NamedTuple):
    """A request as it is sent, and what its time is told under."""

    kind: str
    data: bytes


@dataclass(slots=True)
class Connection:
    """One kept connection and the answer that is coming in on it."""

    sock: socket.socket
    lines: Iterator[list[Request]]
    waiting: Iterator[Request] = field(default_factory=lambda: iter(()))
    kind: str = ""
    buffer: bytearray = field(default_factory=bytearray)
    length: int = -1
    sent_at: float = 0.0

    def send_next(self) -> None:
        """Send the next request of its line, or the first one of the next line."""
        request = next(self.waiting, None)
        while request is None:
            self.waiting = iter(next(self.lines))
            request = next(self.waiting, None)
        self.buffer.clear()
        self.length = -1
        self.kind = request.kind
        self.sent_at = time.perf_counter()
        self.sock.sendall(request.data)

    def receive(self) -> bool:
        """Take what has arrived; True once the answer is whole."""
        data = self.sock.recv(262_144)
        if not data:
            raise ConnectionError("the server closed a connection")
        self.buffer += data
        if self.length < 0:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return False
            found = _LENGTH.search(self.buffer, 0, end)
            self.length = end + 4 + (int(found.group(1)) if found else 0)
        return len(self.buffer) >= self.length


def request_of(given: Mapping[str, Any], port: int) -> Request:
    """Return a whole request."""
    body = given.get("body")
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{given['method']} {given['path']} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in given.get("headers", {}).items())
    if body is not None:
        head += f"content-type: application/json\r\ncontent-length: {len(data)}\r\n"
    return Request(given["kind"], f"{head}\r\n".encode() + data)


def run(port: int, concurrency: int, seconds: float, lines: Iterator[list[Request]], warmup_s: float) -> dict[str, Any]:
    """Load the server and return what was measured after the warm-up."""
    selector = selectors.DefaultSelector()
    for _ in range(concurrency):
        connection = Connection(socket.create_connection(("127.0.0.1", port)), lines)
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection.sock, selectors.EVENT_READ, connection)
        connection.send_next()
    begin = time.perf_counter() + warmup_s
    end = begin + seconds
    answers: list[tuple[str, float, bytes]] = []
    errors = 0
    statuses: Counter[str] = Counter()
    while (now := time.perf_counter()) < end:
        for key, _ in selector.select(end - now):
            connection = key.data
            if not connection.receive():
                continue
            done = time.perf_counter()
            if done >= begin:
                elapsed_ms = (done - connection.sent_at) * 1000.0
                answers.append((connection.kind, elapsed_ms, bytes(connection.buffer[-_TAIL:])))
                statuses[connection.buffer[9:12].decode()] += 1
                errors += not connection.buffer.startswith(b"HTTP/1.1 2")
            connection.send_next()
    for key in selector.get_map().values():  # so that nothing is under way when this ends
        while not key.data.receive():
            pass
    usage = resource.getrusage(resource.RUSAGE_SELF)
    whole_ms: dict[str, list[float]] = {}
    for kind, elapsed_ms, _ in answers:
        whole_ms.setdefault(kind, []).append(round(elapsed_ms, 3))
    return {
        "seconds": seconds,
        "errors": errors,
        "statuses": statuses,
        "client_cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "whole_ms": whole_ms,
        "stages_ms": _stages([tail for _, _, tail in answers]),
    }


def _stages(tails: list[bytes]) -> dict[str, list[float]]:
    stages: dict[str, list[float]] = {}
    for tail in tails:
        for name, value in _TIME.findall(tail):
            stages.setdefault(name.decode(), []).append(float(value))
    return stages


def main() -> None:
    port, concurrency, seconds, file = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    warmup_s = float(sys.argv[5]) if len(sys.argv) > 5 else 1.0
    read = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    lines = [[request_of(request, port) for request in line] for line in read]
    json.dump(run(port, concurrency, seconds, itertools.cycle(lines), warmup_s), sys.stdout)


if __name__ == "__main__":
    main()
