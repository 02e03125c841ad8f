"""HTTP clients that reach only what the rules allow, checked where the connection is made.

A name is looked up once, every address of the answer is examined, and the socket is opened to one of these. A second
lookup, which a rebinding name would answer otherwise, does not happen: TLS and `Host` keep the name, and the socket
gets the address.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
import httpcore
import httpx

from skillroute.core.outbound.hosts import AddressRefused, HostRules, canonical, check_address, literal, shown

Resolve = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a name, best first; blocks. Raises `OSError` where there is none."""

CONNECT_TIMEOUT_S = 10.0
_MAX_TRIED = 4  # addresses of one host
_MAX_CONNECTIONS = 20
_KEPT_S = 30.0
_LOOKUPS = 40  # at once: a server of names that hangs holds a thread until it gives up


def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return what the system's resolver knows of a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.CapacityLimiter] = WeakKeyDictionary()


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that were examined.

    Parameters
    ----------
    rules : HostRules
    resolve : callable
    sockets : httpcore.AsyncNetworkBackend, optional
        Opens the connections; gets addresses, never names.
    """

    def __init__(
        self,
        rules: HostRules,
        resolve: Resolve = system_addresses,
        sockets: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._sockets = sockets or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Open a connection to the first examined address that takes one.

        Raises
        ------
        AddressRefused
            The host may not be called, or has an address that may not be reached, others or not.
        httpcore.ConnectError, httpcore.ConnectTimeout
        """
        reach = self._rules.reach(host, port)
        try:
            with anyio.fail_after(timeout):
                addresses = await self._addresses(host, port)
                for address in addresses:
                    check_address(host, address, reach)
                stream = await self._first(addresses[:_MAX_TRIED], port, timeout, local_address, socket_options)
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        try:
            peer = stream.get_extra_info("server_addr")
            if not peer or ip_address(peer[0]) not in map(ip_address, addresses):
                raise AddressRefused(f"{shown(host)} is connected to another address than the one that was examined")
        except BaseException:
            with anyio.CancelScope(shield=True):
                await stream.aclose()
            raise
        return stream

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refuse a socket of this machine."""
        raise AddressRefused("a socket of this machine cannot be called")

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await anyio.sleep(seconds)

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        name = canonical(host)
        if (address := literal(name)) is not None:
            return [address]
        try:
            # Abandoned when the call ends: the thread goes on until the resolver gives up, and its answer is dropped.
            found = await anyio.to_thread.run_sync(
                self._resolve, name, port, abandon_on_cancel=True, limiter=_limiter()
            )
        except (OSError, UnicodeError):
            raise httpcore.ConnectError("the name cannot be resolved") from None
        if not found:
            raise httpcore.ConnectError("the name has no address")
        return found

    async def _first(
        self,
        addresses: Sequence[str],
        port: int,
        timeout: float | None,
        local_address: str | None,
        socket_options: Iterable[Any] | None,
    ) -> httpcore.AsyncNetworkStream:
        options = None if socket_options is None else list(socket_options)
        each = None if timeout is None else timeout / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._sockets.connect_tcp(address, port, each, local_address, options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._sockets.connect_tcp(addresses[-1], port, each, local_address, options)


def _limiter() -> anyio.CapacityLimiter:
    """Return what bounds the lookups of an event loop: those of all clients, and no other work in threads."""
    return _limiters.setdefault(asyncio.get_running_loop(), anyio.CapacityLimiter(_LOOKUPS))


class GuardedTransport(httpx.AsyncHTTPTransport):
    """Sends requests whose URLs the rules allow, over connections of `GuardedBackend`."""

    def __init__(self, rules: HostRules, context: ssl.SSLContext, resolve: Resolve = system_addresses) -> None:
        super().__init__(verify=context, trust_env=False)
        self._rules = rules
        # httpx has no parameter for the backend of its pool.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=_MAX_CONNECTIONS,
            max_keepalive_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEPT_S,
            http1=True,
            http2=False,
            retries=0,
            network_backend=GuardedBackend(rules, resolve),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises
        ------
        AddressRefused
        httpx.TransportError
        """
        check_url(self._rules, request.url)
        if request.headers.get("host", "").encode("ascii", "replace") != request.url.netloc:
            raise AddressRefused(f"a request to {shown(request.url.host)} must name it as its host")
        return await super().handle_async_request(request)


def make_client(
    rules: HostRules, *, context: ssl.SSLContext | None = None, resolve: Resolve = system_addresses
) -> httpx.AsyncClient:
    """Make a client for servers that others run.

    It follows no redirects, keeps no cookies, and takes no proxies, certificates or passwords from the environment.

    Parameters
    ----------
    rules : HostRules
    context : ssl.SSLContext, optional
        Of TLS; made with the packaged certificates where it is missing, which takes some milliseconds.
    resolve : callable
        Looks up names.
    """
    return httpx.AsyncClient(
        transport=GuardedTransport(rules, context or make_context(), resolve),
        trust_env=False,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
    )


def make_context() -> ssl.SSLContext:
    """Make the context of TLS that trusts the packaged certificates, also where the environment names others."""
    return httpx.create_ssl_context(trust_env=False)


def parse_url(rules: HostRules, text: str) -> httpx.URL:
    """Return a URL that may be called.

    Raises
    ------
    AddressRefused
    """
    if not text.isprintable() or "\\" in text or " " in text:
        raise AddressRefused("the URL has characters that URLs cannot have")
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise AddressRefused("the URL cannot be read") from None
    check_url(rules, url)
    return url


def check_url(rules: HostRules, url: httpx.URL) -> None:
    """Refuse a URL that may not be called.

    Raises
    ------
    AddressRefused
    """
    if url.userinfo:
        raise AddressRefused("a URL must not hold a user or a password")
    if url.fragment:
        raise AddressRefused("a URL that is called must not have a fragment")
    rules.check(url.scheme, url.raw_host.decode("ascii", "replace"), url.port)
