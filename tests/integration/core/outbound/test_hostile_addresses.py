"""GIVEN a listener on this machine, WHEN hostile URLs are requested, THEN it sees no connection.

All but a few are of https, so that what refuses them is what they mean, and not that TLS is missing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from skillroute.core.outbound.guarded import make_client
from skillroute.core.outbound.hosts import AddressRefused, HostRules
from skillroute.core.settings.calling import CallSettings

PUBLIC = "93.184.215.14"
NAMES = {
    "loopback.test": ["127.0.0.1"],
    "all.test": ["0.0.0.0"],
    "six.test": ["::1"],
    "unspecified.test": ["::"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "compatible.test": ["::127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "local-nat64.test": ["64:ff9b:1::7f00:1"],
    "6to4.test": ["2002:7f00:1::"],
    "teredo.test": ["2001:0:7f00:1::"],
    "mixed.test": [PUBLIC, "127.0.0.1"],
    "mixed-first.test": ["127.0.0.1", PUBLIC],
    "mixed-six.test": [PUBLIC, "::1"],
    "private.test": ["10.0.0.1"],
    "link.test": ["169.254.1.1"],
    "link-six.test": ["fe80::1%lo"],
    "site.test": ["fec0::1"],
    "ula.test": ["fd00::1"],
    "metadata.test": ["169.254.169.254"],
    "metadata-six.test": ["fd00:ec2::254"],
    "azure.test": ["168.63.129.16"],
    "alibaba.test": ["100.100.100.200"],
    "shared.test": ["100.64.0.1"],
    "benchmark.test": ["198.18.0.1"],
    "documentation.test": ["192.0.2.1"],
    "multicast.test": ["224.0.0.1"],
    "broadcast.test": ["255.255.255.255"],
    "reserved.test": ["240.0.0.1"],
    "zero.test": ["0.0.0.1"],
    "srv6.test": ["5f00::1"],
    "localhost": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "trailing.test.": ["127.0.0.1"],
}
HOSTILE = [
    *(f"https://{name}:PORT/" for name in NAMES),
    "https://127.0.0.1:PORT/",
    "https://127.0.0.2:PORT/",
    "https://127.255.255.254:PORT/",
    "https://2130706433:PORT/",
    "https://0x7f000001:PORT/",
    "https://0x7f.0x0.0x0.0x1:PORT/",
    "https://017700000001:PORT/",
    "https://0177.0.0.1:PORT/",
    "https://127.1:PORT/",
    "https://127.0.1:PORT/",
    "https://0:PORT/",
    "https://0.0.0.0:PORT/",
    "https://127.0.0.1.:PORT/",
    "https://localhost.:PORT/",
    "https://[::1]:PORT/",
    "https://[::]:PORT/",
    "https://[0:0:0:0:0:0:0:1]:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
    "https://[::ffff:7f00:1]:PORT/",
    "https://[::127.0.0.1]:PORT/",
    "https://[64:ff9b::127.0.0.1]:PORT/",
    "https://[64:ff9b:1::127.0.0.1]:PORT/",
    "https://[2002:7f00:1::]:PORT/",
    "https://[2001:0:7f00:1::]:PORT/",
    "https://[fe80::1%25lo]:PORT/",
    "https://[::1%25lo]:PORT/",
    "https://\uff11\uff12\uff17.0.0.1:PORT/",
    "https://127\u30020\u30020\u30021:PORT/",
    "https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:PORT/",
    "https://%31%32%37.0.0.1:PORT/",
    "https://127.0.0.1%2e:PORT/",
    "https://user:password@127.0.0.1:PORT/",
    "https://public.test@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT\\@public.test/",
    "https://127.0.0.1:PORT#@public.test/",
    "https://public.test#@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://public.test:PORT/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/_x",
    "ftp://127.0.0.1:PORT/",
    "unix:///var/run/docker.sock",
    "ws://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "https://public.test:0/",
    "https://169.254.169.254:PORT/latest/meta-data/",
    "https://2852039166:PORT/",
    "https://0xa9fea9fe:PORT/",
    "https://[::ffff:a9fe:a9fe]:PORT/",
    "https://[fd00:ec2::254]:PORT/",
]


class Listener:
    """Ports of this machine, on every address of it, which notes who comes."""

    def __init__(self) -> None:
        self.seen = 0
        self.sockets = [socket.create_server(("0.0.0.0", 0))]
        self.port = self.sockets[0].getsockname()[1]
        if socket.has_ipv6:
            with suppress(OSError):  # a container without IPv6
                self.sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for each in self.sockets:
            each.setblocking(False)

    def connections(self) -> int:
        """Return how many have connected so far: the system completes a connection before anyone accepts it."""
        for each in self.sockets:
            while True:
                try:
                    connection, _ = each.accept()
                except BlockingIOError:
                    break
                connection.close()
                self.seen += 1
        return self.seen


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    for each in found.sockets:
        each.close()


def resolve(name: str, port: int) -> Sequence[str]:
    return NAMES.get(name, [PUBLIC] if name == "public.test" else [])


def rules(private: str = "") -> HostRules:
    return HostRules.of(CallSettings(call_hosts="", call_private_hosts=private))


async def get(url: str, allowed: HostRules, context: ssl.SSLContext | None = None) -> httpx.Response:
    async with make_client(allowed, resolve=resolve, context=context) as client:
        return await client.get(url, timeout=10.0)


@pytest.fixture(scope="module")
def context() -> ssl.SSLContext:
    return ssl.create_default_context()


@pytest.mark.parametrize("url", HOSTILE, ids=ascii)
def test_a_hostile_url_is_refused_before_a_connection(url: str, listener: Listener, context: ssl.SSLContext) -> None:
    with pytest.raises((AddressRefused, httpx.InvalidURL, httpx.UnsupportedProtocol)) as refused:
        asyncio.run(get(url.replace("PORT", str(listener.port)), rules(), context))
    assert listener.connections() == 0
    if (name := url.split(":PORT", maxsplit=1)[0].removeprefix("https://")) in NAMES:
        assert not [address for address in NAMES[name] if address in str(refused.value)]


def test_there_are_sixty() -> None:
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:PORT/", "https://loopback.test:PORT/", "https://LOOPBACK.test:PORT/"]
)
def test_the_listener_sees_those_that_may_come(url: str, context: ssl.SSLContext) -> None:
    """Else the tests above would pass for another reason."""
    with closing(socket.create_server(("0.0.0.0", 0))) as own:
        port = own.getsockname()[1]
        own.settimeout(10)

        def hang_up() -> None:
            connection, _ = own.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(httpx.TransportError):
            asyncio.run(get(url.replace("PORT", str(port)), rules("127.0.0.1,loopback.test"), context))
        thread.join(10)
        assert not thread.is_alive()


@contextmanager
def web_server(location: str = "") -> Iterator[int]:
    """Serve a page on a port, or a redirect."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(302 if location else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Set-Cookie", "kept=1")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(self.headers.get("Cookie", "no").encode()[:2])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    "location", ["https://127.0.0.1:PORT/", "http://localhost:PORT/", "//[::1]:PORT/", "https://2130706433:PORT/"]
)
def test_a_redirect_is_not_followed(location: str, listener: Listener) -> None:
    with web_server(location.replace("PORT", str(listener.port))) as port:
        answer = asyncio.run(get(f"http://127.0.0.1:{port}/", rules(f"http://127.0.0.1:{port}")))
    assert answer.status_code == 302
    assert listener.connections() == 0


def test_a_name_that_rebinds_is_looked_up_once() -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"], ["169.254.169.254"]])

    async def run(port: int) -> list[int]:
        allowed = rules(f"http://rebind.test:{port}")
        async with make_client(allowed, resolve=lambda name, port: next(answers)) as client:
            return [(await client.get(f"http://rebind.test:{port}/")).status_code]

    with web_server() as port:
        assert asyncio.run(run(port)) == [200]
    assert len(list(answers)) == 2


def test_a_name_that_rebinds_between_connections_is_refused(listener: Listener) -> None:
    answers = iter([[PUBLIC, "127.0.0.1"], ["127.0.0.1"]])

    async def run() -> None:
        async with make_client(rules(), resolve=lambda name, port: next(answers)) as client:
            for _ in range(2):
                with pytest.raises(AddressRefused):
                    await client.get(f"https://rebind.test:{listener.port}/")

    asyncio.run(run())
    assert listener.connections() == 0


def test_nothing_comes_from_the_environment(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
    with web_server() as port:
        assert asyncio.run(get(f"http://127.0.0.1:{port}/", rules(f"http://127.0.0.1:{port}"))).status_code == 200
    assert listener.connections() == 0


def test_no_cookie_is_kept() -> None:
    async def run(port: int) -> list[str]:
        async with make_client(rules(f"http://127.0.0.1:{port}")) as client:
            return [(await client.get(f"http://127.0.0.1:{port}/")).text for _ in range(2)]

    with web_server() as port:
        assert asyncio.run(run(port)) == ["no", "no"]
