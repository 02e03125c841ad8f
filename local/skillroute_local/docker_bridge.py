"""The way from a container to 127.0.0.1 of the machine it runs on.

`sam local` puts its containers on Docker's bridge network, whatever --docker-network says of the host's; there,
127.0.0.1 is the container itself. Docker Desktop and its like pass ``host.docker.internal`` on to the machine's
loopback. Docker Engine on Linux does not: there the machine has an address of its own on the bridge, and what listens
on loopback only must be passed on, for as long as it is wanted. The bridge is not reachable from the network, but by
every container on this machine.
"""

from __future__ import annotations

import errno
import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from ipaddress import ip_network
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, Self

from skillroute_local.errors import LocalError
from skillroute_local.loopback import HOST

DESKTOP_HOST = "host.docker.internal"
_ASKED_WITHIN_S = 20.0
_CHUNK = 65_536


def host_for_containers() -> tuple[str, bool]:
    """Return the name by which containers reach this machine, and whether connections to it must be passed on.

    Raises
    ------
    LocalError
        Docker is not there, or does not answer.
    """
    gateway = _gateway()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        try:
            sock.bind((gateway, 0))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise LocalError(f"Docker's bridge {gateway} cannot be listened on: {error.strerror}") from error
            return DESKTOP_HOST, False  # Docker runs in a virtual machine, and the bridge is that one's
    return gateway, True


def _gateway() -> str:
    docker = shutil.which("docker")
    if docker is None:
        raise LocalError("there is no docker command: sam local runs the functions in Docker")
    command = [docker, "network", "inspect", "bridge", "--format", "{{json .IPAM.Config}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ASKED_WITHIN_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise LocalError("Docker does not answer") from error
    if done.returncode:
        raise LocalError(f"Docker does not answer: {done.stderr.strip()}")
    return gateway_of(json.loads(done.stdout) or [])


def gateway_of(config: Sequence[Mapping[str, str]]) -> str:
    """Return the IPv4 address that Docker's machine has on a network, of the network's own description.

    Docker leaves the gateway out where nobody chose it; it is the first address of the subnet then.
    """
    for subnet_config in config:
        subnet = ip_network(subnet_config["Subnet"])
        if subnet.version == 4:
            return subnet_config.get("Gateway") or str(subnet[1])
    raise LocalError("Docker's bridge network has no IPv4 address")


class Forwards:
    """Passes connections to ports of one address on to the same ports of 127.0.0.1, in threads of its own.

    Several processes may do so for the same ports at a time: each takes some of the connections.

    Parameters
    ----------
    host : str
        An address of this machine, not loopback.
    """

    def __init__(self, host: str, ports: Iterable[int]) -> None:
        self._host = host
        self._ports = list(ports)
        self._running = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as started:
            try:
                for port in self._ports:
                    started.enter_context(_Server(self._host, port))
            except OSError as error:
                raise LocalError(f"{self._host} cannot be listened on: {error.strerror}") from error
            self._running = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()


class _Server(ThreadingTCPServer):
    """One port. Connections end with it."""

    allow_reuse_address = True
    allow_reuse_port = True
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), BaseRequestHandler)
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="forward", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self._open):
            _hang_up(connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note the connection, here in the thread that `shutdown` waits for, so that none is missed at the end."""
        self._open.add(request)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Pass on in both directions until both sides have ended."""
        with suppress(OSError), socket.create_connection((HOST, self.server_address[1])) as there:
            back = threading.Thread(target=_copy, args=(there, request), name="forward-back", daemon=True)
            back.start()
            _copy(request, there)
            back.join()

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that has ended."""
        self._open.discard(request)
        super().shutdown_request(request)


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until it ends, and then the end; where either side is gone, the other is hung up on."""
    try:
        while data := source.recv(_CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        _hang_up(source)
        _hang_up(target)


def _hang_up(sock: socket.socket) -> None:
    with suppress(OSError):  # it has ended by itself
        sock.shutdown(socket.SHUT_RDWR)
