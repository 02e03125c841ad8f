"""The way from containers to loopback, without containers: Linux has more addresses on loopback than 127.0.0.1."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from skillroute_local.commands.sam_env import reachable_by_containers
from skillroute_local.docker_bridge import DESKTOP_HOST, Forwards, gateway_of, host_for_containers
from skillroute_local.errors import LocalError
from skillroute_local.loopback import free_port, listen

BRIDGE = "127.0.0.2"
ELSEWHERE = "192.0.2.1"  # for documentation: no machine has it
LARGE = os.urandom(3_000_000)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address on Linux only")


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server on 127.0.0.1 that sends back what it was sent, once the other side has sent all."""
    sock = listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            with connection:
                got = b"".join(iter(partial(connection.recv, 65_536), b""))
                connection.sendall(got)

    thread = threading.Thread(target=serve)
    thread.start()
    yield sock.getsockname()[1]
    sock.shutdown(socket.SHUT_RDWR)
    sock.close()
    thread.join()


def echoed(port: int, data: bytes) -> bytes:
    with socket.create_connection((BRIDGE, port), 10) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(65_536), b""))


def test_what_is_sent_arrives_whole_and_the_answer_too(echo: int) -> None:
    with Forwards(BRIDGE, [echo]):
        assert echoed(echo, LARGE) == LARGE
        assert echoed(echo, b"") == b""


def test_nothing_is_passed_on_before_and_after(echo: int) -> None:
    forwards = Forwards(BRIDGE, [echo])
    with pytest.raises(ConnectionRefusedError):
        echoed(echo, b"before")
    with forwards:
        pass
    with pytest.raises(ConnectionRefusedError):
        echoed(echo, b"after")


def test_a_connection_ends_with_the_passing_on(echo: int) -> None:
    with Forwards(BRIDGE, [echo]):
        sock = socket.create_connection((BRIDGE, echo), 10)
        sock.sendall(b"and then?")
    with sock, suppress(ConnectionResetError):
        assert sock.recv(1) == b""


def test_several_may_pass_on_the_same_port_at_a_time(echo: int) -> None:
    with Forwards(BRIDGE, [echo]):
        with Forwards(BRIDGE, [echo]):
            assert [echoed(echo, bytes([n])) for n in range(8)] == [bytes([n]) for n in range(8)]
        assert [echoed(echo, bytes([n])) for n in range(8)] == [bytes([n]) for n in range(8)]


def test_where_nothing_listens_the_connection_closes() -> None:
    port = free_port()
    with Forwards(BRIDGE, [port]), socket.create_connection((BRIDGE, port), 10) as sock:
        assert sock.recv(1) == b""


def test_an_address_that_is_not_of_this_machine_is_said(echo: int) -> None:
    with pytest.raises(LocalError, match=ELSEWHERE), Forwards(ELSEWHERE, [echo]):
        pass


@pytest.mark.parametrize(
    ("config", "gateway"),
    [
        ([{"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.9"}], "172.17.0.9"),
        ([{"Subnet": "172.17.0.0/16"}], "172.17.0.1"),
        ([{"Subnet": "fd00::/64", "Gateway": "fd00::1"}, {"Subnet": "10.1.2.0/24"}], "10.1.2.1"),
    ],
)
def test_docker_tells_the_address_of_its_machine(config: list[dict[str, str]], gateway: str) -> None:
    assert gateway_of(config) == gateway


def test_a_network_without_an_address_is_said() -> None:
    with pytest.raises(LocalError, match="no IPv4 address"):
        gateway_of([{"Subnet": "fd00::/64"}])


class TestHost:
    def docker(self, directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
        """Put a docker of our own on the path, and no other."""
        program = directory / "docker"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(directory))

    def test_only_what_functions_connect_to_is_named_as_containers_reach_it_and_passed_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, echo: int
    ) -> None:
        self.docker(tmp_path, monkeypatch, f"""echo '[{{"Subnet": "127.0.0.0/8", "Gateway": "{BRIDGE}"}}]'""")
        identity_provider = free_port()
        names = {"SKILLROUTE_JWT_ISSUER": f"http://127.0.0.1:{identity_provider}/", "SKILLROUTE_JWT_AUDIENCE": "a"}
        queues = ("SQS_ENDPOINT", "CLASSIFY_QUEUE", "CLASSIFY_DLQ", "AGGREGATE_QUEUE", "AGGREGATE_DLQ", "LEARN_QUEUE")
        here = {f"SKILLROUTE_{each}_URL": f"http://127.0.0.1:{echo}/1/q" for each in queues}
        database = {"SKILLROUTE_DATABASE_URL": f"postgresql://a:b@127.0.0.1:{echo}/c"}

        with reachable_by_containers(names | here | database) as (there, is_passed_on):
            assert is_passed_on
            assert echoed(echo, b"to the queues") == b"to the queues"
            with pytest.raises(ConnectionRefusedError):
                echoed(identity_provider, b"to whoever makes tokens")

        expected = {name: value.replace("127.0.0.1", BRIDGE) for name, value in here.items()}
        expected["SKILLROUTE_DATABASE_URL"] = f"postgresql://a:b@{BRIDGE}:{echo}/c?sslmode=disable"
        assert there == names | expected

    def test_an_address_of_this_machine_must_be_listened_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.docker(tmp_path, monkeypatch, f"""echo '[{{"Subnet": "127.0.0.0/8", "Gateway": "{BRIDGE}"}}]'""")
        assert host_for_containers() == (BRIDGE, True)

    def test_docker_in_a_virtual_machine_has_a_name_for_this_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.docker(tmp_path, monkeypatch, f"""echo '[{{"Subnet": "192.0.2.0/24", "Gateway": "{ELSEWHERE}"}}]'""")
        assert host_for_containers() == (DESKTOP_HOST, False)

    def test_a_docker_that_does_not_run_says_why(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.docker(tmp_path, monkeypatch, "echo 'is the daemon running?' >&2; exit 1")
        with pytest.raises(LocalError, match=r"is the daemon running\?"):
            host_for_containers()

    def test_no_docker_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(LocalError, match="no docker command"):
            host_for_containers()
