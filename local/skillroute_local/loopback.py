"""Ports of 127.0.0.1, or of another address that was asked for: is it free, who has it."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

import psutil

from skillroute_local.errors import LocalError

HOST = "127.0.0.1"


def listen(port: int = 0, host: str = HOST) -> socket.socket:
    """Return a listening socket on loopback, or on the address given; port 0 takes a free one.

    Raises
    ------
    LocalError
        The port is in use, or this user may not have it; the message names the process that has it, where known. Or
        the machine has no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio would not know that it may turn off the delay of small packets on its connections.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Connections of a server that has just ended linger in TIME_WAIT and are no obstacle.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except PermissionError as error:
        sock.close()
        raise LocalError(f"port {port} may not be used by this user: choose one above 1023") from error
    except OSError as error:
        sock.close()
        if error.errno != errno.EADDRINUSE:
            raise LocalError(
                f"{host} cannot be listened on ({error.strerror}): give an address of this machine"
            ) from error
        raise LocalError(f"port {port} is in use{_by_whom(port)}: stop it or choose another port") from error
    return sock


def require_free_port(port: int) -> None:
    """Raise the `LocalError` of `listen` unless a server could listen on `port` now."""
    listen(port).close()


def port_free(port: int) -> bool:
    """Return whether a server could listen on `port` now."""
    try:
        require_free_port(port)
    except LocalError:
        return False
    return True


def free_port() -> int:
    """Return a port that is free now."""
    with listen() as sock:
        return int(sock.getsockname()[1])


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach what listens on an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _by_whom(port: int) -> str:
    """Return `` by NAME (pid N)``, or nothing where the system does not show it to this user."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:  # macOS shows it only to root; or the process has just ended
        pass
    return ""
