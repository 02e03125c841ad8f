"""Log in to PostgreSQL: from an address to a session, within one time limit for all steps."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pg8000.native

from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.queries import statement
from skillroute.core.postgres.refusals import BROKEN, NoAnswer, NotPermitted, TookTooLong, refusal, unanswered
from skillroute.core.postgres.sockets import PlainSocket, TlsSocket
from skillroute.core.time.time_left import at_most_s

_TLS_REQUEST = struct.pack("!ii", 8, 80877103)  # PostgreSQL manual, section 54.7: SSLRequest
# Seconds, seconds, times: the kernel detects a lost peer while the connection is idle, before the next request does.
_KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}


@dataclass(frozen=True, slots=True)
class Login:
    """A session that has just begun.

    Attributes
    ----------
    sock : socket
        The connected socket; an `ssl.SSLSocket` with TLS.
    server : str
        The history of transactions that the server writes.
    """

    sock: socket.socket
    native: pg8000.native.Connection
    server: str

    def close(self) -> None:
        """End the session."""
        with suppress(*BROKEN):
            self.native.close()


def log_in(
    address: Address, *, connect_timeout_s: float, statement_timeout_s: float, idle_timeout_s: float = 0.0
) -> Login:
    """Open a session. Name resolution, TCP, TLS, authentication and settings share the limit `connect_timeout_s`.

    PostgreSQL ends it after `idle_timeout_s` without a statement outside of a transaction; never, where that is 0.

    Raises
    ------
    NoAnswer
        They took longer.
    TookTooLong
        They took longer than the invocation had left.
    DatabaseUnavailable
        The server cannot be reached, or refuses the login.
    """
    limit_s = at_most_s(connect_timeout_s)
    is_cut_short = limit_s < connect_timeout_s  # by the invocation; the server may be healthy
    late = f"PostgreSQL does not answer: no login at {address.host}:{address.port} within {limit_s:g} s"
    return _within(
        limit_s,
        lambda: _logged_in(address, connect_timeout_s, statement_timeout_s, idle_timeout_s),
        TookTooLong(late) if is_cut_short else NoAnswer(late),
    )


def _within(timeout_s: float, open_session: Callable[[], Login], late: DatabaseUnavailable) -> Login:
    """Run in a thread (0.1 ms): socket timeouts limit neither name resolution nor the sum of many short waits."""
    future: Future[Login] = Future()

    def run() -> None:
        try:
            login = open_session()
        except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
            with suppress(InvalidStateError):
                future.set_exception(error)
            return
        try:
            future.set_result(login)
        except InvalidStateError:  # the caller has given up
            login.close()

    threading.Thread(target=run, name="postgres-login", daemon=True).start()
    try:
        return future.result(timeout_s)
    except TimeoutError:
        if future.cancel():
            raise late from None
        return future.result()


def _logged_in(address: Address, timeout_s: float, statement_timeout_s: float, idle_timeout_s: float) -> Login:
    with ExitStack() as undo:
        sock = _connected(address, timeout_s)
        undo.callback(sock.close)
        context = address.ssl_context()
        if isinstance(context, ssl.SSLContext):
            sock = _encrypted(sock, context, address)
            undo.callback(sock.close)
        try:
            native = _authenticated(sock, address)
            server = _set_up(native, statement_timeout_s, idle_timeout_s)
        except pg8000.native.DatabaseError as error:
            raise refusal(error) from error
        except BROKEN as error:
            raise unanswered(error) from error
        undo.pop_all()
        return Login(sock, native, server)


def _connected(address: Address, timeout_s: float) -> socket.socket:
    try:
        # Twice the limit: the caller gives up first, and this ends the thread that it leaves behind.
        sock = PlainSocket.connected(address.host, address.port, 2 * timeout_s)
    except OSError as error:
        raise DatabaseUnavailable(f"PostgreSQL at {address.host}:{address.port} cannot be reached") from error
    # pg8000 sends a long statement in several parts. Without this the last one waits until the server has acknowledged
    # those before it, which Linux delays by 40 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Milliseconds: a peer that acknowledges nothing for as long as a login may take is lost.
    options = _KEEPALIVE | {"TCP_USER_TIMEOUT": int(timeout_s * 1000)}
    for name, value in options.items():
        if hasattr(socket, name):  # not on every system
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return sock


def _encrypted(sock: socket.socket, context: ssl.SSLContext, address: Address) -> ssl.SSLSocket:
    """Negotiate TLS here rather than in pg8000, since timeouts must be set on the resulting socket."""
    where = f"PostgreSQL at {address.host}:{address.port}"
    try:
        sock.sendall(_TLS_REQUEST)
        accepted = sock.recv(1) == b"S"
        if accepted:
            context.sslsocket_class = TlsSocket
            return context.wrap_socket(sock, server_hostname=address.host)
    except ssl.SSLError as error:
        raise DatabaseUnavailable(
            f"{where} is not who it should be, or its TLS is not ours ({error}): "
            "give its authorities as sslrootcert in the secret, or sslmode=require, which does not ask who answers"
        ) from error
    except OSError as error:
        raise unanswered(error) from error
    raise DatabaseUnavailable(f"{where} offers no TLS, or closed the connection (sslmode={address.sslmode})")


def _authenticated(sock: socket.socket, address: Address) -> pg8000.native.Connection:
    return pg8000.native.Connection(
        address.user,
        host=address.host,
        # pg8000 cannot tell a server that asks for a password that there is none.
        password=address.password or "",
        database=address.database,
        ssl_context=False,  # TLS has been negotiated already
        sock=sock,
        application_name="skillroute",
        # Times are given in UTC, whatever the server's own zone is (decision 28).
        startup_params={"timezone": "UTC", "datestyle": "ISO"},
    )


def _set_up(native: pg8000.native.Connection, statement_timeout_s: float, idle_timeout_s: float) -> str:
    """Set what the session needs, and return the history of transactions that the server writes.

    Not at the login: proxies and poolers refuse a login with settings that they do not know.
    """
    settings = (
        f"SET statement_timeout = {int(statement_timeout_s * 1000)}; "
        f"SET idle_session_timeout = {int(idle_timeout_s * 1000)}; "
    )
    try:
        rows = native.run(settings + statement("server_history"))
    except pg8000.native.DatabaseError as error:
        if not isinstance(refusal(error), NotPermitted | StatementRejected):
            raise
        # A service without access to the control file.
        rows = native.run(settings + statement("server_start"))
    return str(rows[0][0])
