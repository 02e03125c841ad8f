"""Requests that browsers may make to the servers on this machine: from their own pages, and from no others.

A server on loopback trusts anyone who reaches it, and a browser reaches it for any web site that the person looks at.
A site can send requests, if not read the answers; and where its name is made to mean 127.0.0.1 (DNS rebinding), it can
read them, too. The one is seen by `Origin` and `Sec-Fetch-Site`, the other by `Host`, which browsers set and no page
can change. Programs send neither of the first two.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import psutil
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.http.request_id import REQUEST_ID_HEADER
from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK = "localhost"


class Hosts:
    """The names by which this machine may be reached, in addition to loopback and its own addresses.

    Parameters
    ----------
    names : collection of str
        Without ports.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self._names = {name.strip().lower() for name in names if name.strip()}

    def refusal(
        self, host: str | None, origin: str | None, fetch_site: str | None, *, pages: Collection[str] = ()
    ) -> str | None:
        """Return why a request is refused, by three of its headers; None when it is not.

        `pages` are those of other origins that may ask.
        """
        if host is None or not self._is_own(host):
            return (
                f"the host {_shown(host)} is not one of this machine's: ask http://localhost, or start with "
                "--allow-host and its name"
            )
        allowed = f"only pages of {', '.join([f'http://{host}', *sorted(pages)])} may ask this server"
        # A page of another port is another page; https stands before a proxy that took it off.
        if origin is not None and origin not in {f"http://{host}", f"https://{host}", *pages}:
            return f"the request comes from a page of {_shown(origin)}: {allowed}"
        # What a page of another origin sends has an Origin; without one, the site is all that tells.
        if fetch_site in {"cross-site", "same-site"} and origin not in pages:
            return f"the request comes from a page of another site: {allowed}"
        return None

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name = parts.hostname
            _ = parts.port
        except ValueError:
            return False
        if not name or parts.username is not None or parts.path:
            return False
        if name == _LOOPBACK or name in self._names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        # No name can be made to look like an address.
        return address.is_loopback or str(address) in _addresses()


class OwnPagesOnly:
    """ASGI middleware that answers 403 to what `Hosts` refuses.

    Parameters
    ----------
    pages : collection of str
        Of other origins, that may ask.
    landings : collection of str
        Paths that other sites may lead a browser to, to be looked at in a tab of its own: nothing is done by that.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts, pages: Collection[str] = (), landings: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = hosts
        self._pages = frozenset(pages)
        self._landings = frozenset(landings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            names = (b"host", b"origin", b"sec-fetch-site")
            host, origin, site = (value.decode("latin-1") if (value := headers.get(name)) else None for name in names)
            if scope["path"] in self._landings and _is_led_here(scope["method"], headers):
                site = None
            why = self._hosts.refusal(host, origin, site, pages=self._pages)
            if why is not None:
                await _refuse(send, why)
                return
        await self._app(scope, receive, send)


def _is_led_here(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser shows what is asked for as a page, and not as a part of one."""
    return (method, headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")) == ("GET", b"navigate", b"document")


async def _refuse(send: Send, why: str) -> None:
    headers, body = _answer(why)
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": 403, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def own_pages_only(app: Callable[..., Iterable[bytes]], hosts: Hosts) -> Callable[..., Iterable[bytes]]:
    """Return a WSGI application that answers 403 to what `Hosts` refuses."""

    def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        given = (environ.get(name) for name in ("HTTP_HOST", "HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE"))
        why = hosts.refusal(*given)
        if why is None:
            return app(environ, start_response)
        headers, body = _answer(why)
        start_response("403 Forbidden", headers)
        return [body]

    return guarded


def _answer(why: str) -> tuple[list[tuple[str, str]], bytes]:
    """Return headers and body in the shape of all errors; nothing has given the request an id before this."""
    request_id = uuid.uuid4().hex
    body = json.dumps({"detail": why, "code": ErrorCode.FORBIDDEN, "request_id": request_id}).encode()
    return [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        (REQUEST_ID_HEADER, request_id),
    ], body


def _shown(header: str | None) -> str:
    return "(none)" if header is None else repr(header[:200])


def _addresses() -> set[str]:
    """Return the addresses of this machine, at this moment: Docker's bridge may come and go."""
    found = {address.address for addresses in psutil.net_if_addrs().values() for address in addresses}
    return {address.split("%")[0] for address in found}
