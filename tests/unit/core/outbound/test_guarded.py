"""GIVEN a guarded backend, WHEN a connection is opened, THEN it is to an examined address, and by one lookup."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore
import pytest
from skillroute.core.outbound.guarded import GuardedBackend, make_client, parse_url
from skillroute.core.outbound.hosts import AddressRefused, HostRules
from skillroute.core.settings.calling import CallSettings

PUBLIC = ("93.184.215.14", "2606:4700::1111")


class Stream(httpcore.AsyncNetworkStream):
    """A connection to `peer`."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.is_closed = False

    async def aclose(self) -> None:
        self.is_closed = True

    def get_extra_info(self, info: str) -> Any:
        return (self.peer, 443) if info == "server_addr" else None


class Sockets(httpcore.AsyncNetworkBackend):
    """Notes what it is to connect to; `down` answers nothing, and `peer` is who is there instead."""

    def __init__(self, down: Iterable[str] = (), peer: str | None = None) -> None:
        self.down, self.peer = set(down), peer
        self.asked: list[str] = []
        self.streams: list[Stream] = []

    async def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append(host)
        if host in self.down:
            raise httpcore.ConnectError
        self.streams.append(Stream(self.peer or host))
        return self.streams[-1]


def connect(
    answers: Sequence[Sequence[str]], sockets: Sockets, host: str = "name.test", private: str = ""
) -> list[str]:
    """Connect, and return which names were looked up: the answers are given in turn."""
    looked_up: list[str] = []
    left = iter(answers)

    def resolve(name: str, port: int) -> Sequence[str]:
        looked_up.append(name)
        return next(left)

    rules = HostRules.of(CallSettings(call_hosts="", call_private_hosts=private))
    asyncio.run(GuardedBackend(rules, resolve, sockets).connect_tcp("name.test", 443, 5.0))
    return looked_up


def test_a_name_is_looked_up_once_and_the_examined_address_is_connected_to() -> None:
    sockets = Sockets()
    assert connect([[PUBLIC[0]], ["127.0.0.1"]], sockets) == ["name.test"]
    assert sockets.asked == [PUBLIC[0]]


def test_the_next_address_is_tried_where_one_is_down() -> None:
    sockets = Sockets(down=[PUBLIC[0]])
    connect([PUBLIC], sockets)
    assert sockets.asked == list(PUBLIC)


def test_one_bad_address_refuses_the_host() -> None:
    sockets = Sockets()
    for bad in ("127.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0"):
        with pytest.raises(AddressRefused, match=r"^name\.test has an address that may not be reached; [^0-9:]*$"):
            connect([[PUBLIC[0], bad]], sockets)
    assert sockets.asked == []


def test_a_private_host_has_private_addresses_and_no_metadata_service() -> None:
    sockets = Sockets()
    connect([["10.0.0.7"]], sockets, private="name.test")
    with pytest.raises(AddressRefused):
        connect([["169.254.169.254"]], sockets, private="name.test")
    assert sockets.asked == ["10.0.0.7"]


def test_another_peer_than_the_examined_address_is_hung_up_on() -> None:
    sockets = Sockets(peer="10.0.0.7")
    with pytest.raises(AddressRefused, match="another address"):
        connect([[PUBLIC[0]]], sockets)
    assert [stream.is_closed for stream in sockets.streams] == [True]


def test_an_unknown_name_is_no_connection() -> None:
    def resolve(name: str, port: int) -> Sequence[str]:
        raise OSError(name)

    with pytest.raises(httpcore.ConnectError):
        asyncio.run(GuardedBackend(HostRules(), resolve, Sockets()).connect_tcp("name.test", 443, 5.0))
    with pytest.raises(httpcore.ConnectError):
        connect([[]], Sockets())


def test_a_lookup_that_hangs_ends_with_its_time() -> None:
    release = threading.Event()

    def resolve(name: str, port: int) -> Sequence[str]:
        release.wait(20)  # in a thread, which cannot be interrupted
        return []

    async def run() -> None:
        try:
            await GuardedBackend(HostRules(), resolve, Sockets()).connect_tcp("name.test", 443, 0.05)
        finally:
            release.set()

    with pytest.raises(httpcore.ConnectTimeout):
        asyncio.run(run())


def test_sockets_of_the_machine_are_refused() -> None:
    with pytest.raises(AddressRefused):
        asyncio.run(GuardedBackend(HostRules()).connect_unix_socket("/var/run/docker.sock"))


@pytest.mark.parametrize(
    "url",
    [
        *("https://user:secret@a.example/", "https://a.example/#part", "ftp://a.example/", "file:///etc/passwd"),
        *(
            "https://a.example\\@b.example/",
            "https://a.example/\n",
            "https://a b.example/",
            "https:///path",
            "a.example",
        ),
        *(
            "https://a.example:0/",
            "https://a.example:99999/",
            "https://[::1",
            "gopher://a.example:70/_x",
            "//a.example",
        ),
        *("http://a.example/", "//a.example", "a.example", ""),
    ],
)
def test_a_url_that_may_not_be_called_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        parse_url(HostRules(), url)
    assert "secret" not in str(refused.value)


def test_a_request_must_name_the_host_that_it_goes_to() -> None:
    async def run() -> None:
        async with make_client(HostRules()) as client:
            await client.get("https://a.example/", headers={"host": "b.example"})

    with pytest.raises(AddressRefused, match="as its host"):
        asyncio.run(run())
