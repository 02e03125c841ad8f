"""One request and its answer, within bounds: bytes are counted as they come, and failures become `CallFailed`.

No message has what a library says of a failure: that may quote headers, which are credentials, or an address.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import httpx

from skillroute.calling.model import CallFailed, Failure, Limits
from skillroute.core.input.encodable import encodable
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.outbound.hosts import AddressRefused

MAX_QUOTED = 200
"""Characters of what a server says that a message repeats."""

_QUOTED_BYTES = 4_000  # of an error's body that are read
_MAX_CHALLENGE = 4_000
_SECRET = 8  # characters from which on a part of a header's value is one
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
OWN_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect"),
        *("host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that are the request's own, whose values nothing else may set."""


class Budget:
    """The bytes that answers may still have.

    Parameters
    ----------
    size : int
    host : str
        As messages name it.
    """

    def __init__(self, size: int, host: str) -> None:
        self._size = self._left = size
        self._host = host

    def take(self, number: int) -> None:
        """Count bytes.

        Raises
        ------
        CallFailed
            There are too many.
        """
        self._left -= number
        if self._left < 0:
            raise CallFailed(
                Failure.TOO_LARGE, f"{self._host} answers with more than the {self._size:,} bytes that are passed on"
            )


@asynccontextmanager
async def within(limits: Limits, host: str, credentials: Credentials) -> AsyncIterator[None]:
    """End what runs when the time of a call is up, and translate failures; none repeats the credentials."""
    try:
        async with asyncio.timeout(limits.seconds):
            with translated(host):
                yield
    except CallFailed as error:
        error.args = (_without(str(error), credentials),)
        error.challenge = None if error.challenge is None else _without(error.challenge, credentials)
        raise
    except TimeoutError:
        raise CallFailed(Failure.TIMEOUT, f"{host} did not answer within {limits.seconds:g} s") from None


@contextmanager
def translated(host: str) -> Iterator[None]:
    """Raise `CallFailed` for what sending, receiving and the rules of addresses raise."""
    try:
        yield
    except AddressRefused as error:
        raise CallFailed(Failure.REFUSED_ADDRESS, str(error)) from None
    except httpx.TimeoutException:
        raise CallFailed(Failure.TIMEOUT, f"{host} did not answer in time") from None
    except httpx.ConnectError as error:
        is_tls = _is_tls(error)
        reason = "has no certificate that is trusted" if is_tls else "cannot be reached"
        raise CallFailed(Failure.UNREACHABLE, f"{host} {reason}") from None
    except httpx.LocalProtocolError:
        raise CallFailed(Failure.PROTOCOL, f"the request to {host} has a header that cannot be sent") from None
    except httpx.RemoteProtocolError:
        raise CallFailed(Failure.PROTOCOL, f"{host} hung up within its answer, or answers other than HTTP") from None
    except httpx.TransportError:
        raise CallFailed(Failure.UNREACHABLE, f"the connection to {host} broke off") from None
    except TimeoutError:
        raise
    except OSError:  # of TLS, which httpcore does not translate while it reads
        raise CallFailed(Failure.UNREACHABLE, f"the connection to {host} broke off") from None
    except httpx.InvalidURL:
        raise CallFailed(Failure.REFUSED_ADDRESS, f"the URL of {host} cannot be read") from None


def headers_of(credentials: Credentials) -> dict[str, str]:
    """Return the headers of credentials, in small letters.

    Raises
    ------
    CallFailed
        One cannot be sent, or is the request's own. The message has its name, never its value.
    """
    headers: dict[str, str] = {}
    for name, value in credentials.headers.items():
        key = name.lower()
        if key in OWN_HEADERS or key.startswith("mcp-") or not is_header(key, value):
            raise CallFailed(Failure.PROTOCOL, f"the credentials have a header that cannot be sent: {quoted(name)}")
        headers[key] = value
    return headers


def is_header(name: str, value: str) -> bool:
    """Return whether a header can be sent: no line ends within, and nothing but ASCII."""
    return _TOKEN.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None


async def chunks(response: httpx.Response, budget: Budget) -> AsyncGenerator[bytes, None]:
    """Yield the body of an answer as it comes.

    Raises
    ------
    CallFailed
        It is compressed, though that was not asked for, or too large.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        host = response.request.url.host
        raise CallFailed(Failure.PROTOCOL, f"{host} answers compressed ({quoted(encoding)}), which was not asked for")
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and len(length) < 20 and response.request.method != "HEAD":
        budget.take(int(length))
        budget.take(-int(length))
    async for chunk in response.aiter_raw():
        budget.take(len(chunk))
        yield chunk


async def whole(response: httpx.Response, budget: Budget) -> bytes:
    """Return the body of an answer. Raises `CallFailed`."""
    return b"".join([chunk async for chunk in chunks(response, budget)])


async def beginning(response: httpx.Response) -> bytes:
    """Return the first bytes of an answer that is an error; none where it cannot be read."""
    read = bytearray()
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return b""
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) >= _QUOTED_BYTES:
            break
    return bytes(read[:_QUOTED_BYTES])


def refuse_status(response: httpx.Response, host: str) -> None:
    """Raise `CallFailed` for redirects, which are not followed, and for credentials that the server refuses."""
    status = response.status_code
    if 300 <= status < 400:
        target = response.headers.get("location", "").partition("?")[0]
        to = f" to {quoted(target)}" if target else ""
        raise CallFailed(
            Failure.PROTOCOL, f"{host} redirects{to}, which is not followed: use the address that answers", code=status
        )
    if status in {401, 403}:
        challenge = response.headers.get("www-authenticate")
        failure = Failure.UNAUTHORIZED if status == 401 else Failure.FORBIDDEN
        reason = "does not accept the credentials" if status == 401 else "forbids this to the caller"
        challenge = None if challenge is None else challenge[:_MAX_CHALLENGE]
        raise CallFailed(failure, f"{host} {reason} ({status})", challenge=challenge, code=status)


def media_type(headers: Mapping[str, str]) -> str:
    """Return the type of a body in small letters, without parameters; empty where none is given."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def quoted(text: object) -> str:
    """Return what a message repeats of a text that a server wrote: one line, cut."""
    line = encodable(" ".join(str(text).split()))
    shown = "".join(letter if letter.isprintable() else "?" for letter in line[: MAX_QUOTED + 1])
    return shown if len(shown) <= MAX_QUOTED else f"{shown[: MAX_QUOTED - 3]}..."


def _without(text: str, credentials: Credentials) -> str:
    """Return a text without what a server repeats of the credentials, whole or cut."""
    for value in credentials.headers.values():
        for secret in filter(lambda part: len(part) >= _SECRET, value.split()):
            text = re.sub(rf"{re.escape(secret[:_SECRET])}\S*", "***", text)
    return text


def _is_tls(error: BaseException | None) -> bool:
    for _ in range(5):
        if error is None or isinstance(error, ssl.SSLError):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, ssl.SSLError)
