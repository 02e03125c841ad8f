"""Sockets that close with themselves the file that pg8000 makes of them."""

from __future__ import annotations

import io
import socket
import ssl
from contextlib import suppress
from typing import Any


class PlainSocket(socket.socket):
    """Closes its file as well.

    A socket stays open until every file made of it is closed, and pg8000 only drops its file. Where the traceback of a
    failure still holds it, the descriptor would be open until the garbage collector comes by, and what is left in the
    file's buffer would be written to a descriptor that is closed by then.
    """

    _file: io.IOBase | None = None

    @classmethod
    def connected(cls, host: str, port: int, timeout_s: float) -> PlainSocket:
        """Connect by TCP. The limit holds for every later wait as well."""
        made = socket.create_connection((host, port), timeout_s)
        sock = cls(made.family, made.type, made.proto, fileno=made.detach())
        sock.settimeout(timeout_s)
        return sock

    def makefile(self, *args: Any, **kwargs: Any) -> Any:
        """Make the one file of this socket."""
        self._file = file = super().makefile(*args, **kwargs)
        return file

    def close(self) -> None:
        """Close the file and the socket. What the file's buffer still holds is not sent."""
        file, self._file = self._file, None
        if file is not None:
            # Else what could not be sent before would be waited for once more.
            with suppress(OSError):
                self.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                file.close()
        super().close()


class TlsSocket(PlainSocket, ssl.SSLSocket):
    """A `PlainSocket` with TLS; pg8000 binds the password's exchange to an `SSLSocket`'s certificate only."""
