"""Calls operations of HTTP interfaces, as their imported documents describe them."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import httpx

from skillroute.calling.answers import answer_of
from skillroute.calling.bodies import body_of
from skillroute.calling.exchange import OWN_HEADERS, Budget, headers_of, is_header, quoted, refuse_status, whole, within
from skillroute.calling.model import CallFailed, Failure, JsonObject, Limits, Operation
from skillroute.calling.styles import Pairs, as_text, encoded, in_cookie, in_header, in_path, in_query
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.outbound.guarded import Resolve, make_client, make_context, parse_url, system_addresses
from skillroute.core.outbound.hosts import HostRules, shown

_METHODS = {"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "QUERY"}
_IN_PATHS = re.compile(r"\{([^{}/]+)\}")
_NEVER_SET = OWN_HEADERS | {"authorization", "proxy-authorization"}
_ACCEPT = "application/json, text/*;q=0.9, */*;q=0.8"


@dataclass(slots=True)
class _Request:
    """A request as arguments fill it."""

    paths: dict[str, str] = field(default_factory=dict)
    query: Pairs = field(default_factory=list)
    raw_query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: Pairs = field(default_factory=list)
    body: bytes | None = None

    def address(self, operation: Operation) -> str:
        """Return the URL: arguments change neither its host nor which segments its path has."""
        base = operation.url.rstrip("/")
        if not base.lower().startswith(("http://", "https://")) or set(base) & set("{}?#"):
            raise CallFailed(
                Failure.PROTOCOL, "the operation has no address that can be called: its document names no whole URL"
            )
        path = "/".join(map(self._segment, operation.path.split("/")))
        path, _, own = path.partition("?")
        query = "&".join([*filter(None, [own]), *(f"{name}={text}" for name, text in self.query), *self.raw_query])
        return f"{base}/{path.removeprefix('/')}{'?' if query else ''}{query}"

    def _segment(self, segment: str) -> str:
        filled = _IN_PATHS.sub(lambda found: self._in_path(found[1]), segment)
        if filled != segment and unquote(filled) in {".", "..", ""}:
            raise CallFailed(Failure.PROTOCOL, f"the arguments of {quoted(segment)} would change the path")
        return filled

    def _in_path(self, name: str) -> str:
        if name not in self.paths:
            raise CallFailed(Failure.PROTOCOL, f"the argument {quoted(name)} is missing, which is part of the path")
        return self.paths[name]


class HttpOperations:
    """Calls operations over guarded connections.

    Parameters
    ----------
    rules : HostRules
    context : ssl.SSLContext, optional
        Of TLS; made at the first call where it is missing.
    resolve : callable
        Looks up names.
    """

    def __init__(
        self, rules: HostRules, *, context: ssl.SSLContext | None = None, resolve: Resolve = system_addresses
    ) -> None:
        self._rules = rules
        self._given_context = context
        self._resolve = resolve

    async def call_operation(
        self, operation: Operation, arguments: JsonObject, *, credentials: Credentials, limits: Limits
    ) -> JsonObject:
        """Return the answer of an operation in the form of ``tools/call``: `isError` from status 400 on.

        Raises
        ------
        CallFailed
            Arguments are missing or cannot be sent; the server refuses the credentials (401, or 403 with a challenge),
            redirects, or does not answer within the limits.
        """
        host = _host_of(operation)
        async with within(limits, host, credentials):
            method = operation.method.upper()
            if method not in _METHODS:
                raise CallFailed(Failure.PROTOCOL, f"the method {quoted(operation.method)} is not called")
            filled = filled_with(operation, arguments)
            url = parse_url(self._rules, filled.address(operation))
            headers = _headers(filled, credentials)
            async with (
                make_client(self._rules, context=self._context, resolve=self._resolve) as client,
                client.stream(method, url, headers=headers, content=filled.body) as response,
            ):
                if response.status_code != 403 or "www-authenticate" in response.headers:
                    refuse_status(response, host)
                return answer_of(response, await whole(response, Budget(limits.answer_bytes, host)), limits)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._given_context or make_context()


def filled_with(operation: Operation, arguments: Mapping[str, Any]) -> _Request:
    """Return the request that arguments make.

    Raises
    ------
    CallFailed
        The operation has no such argument, or its place cannot carry the value.
    """
    request = _Request()
    for argument, value in arguments.items():
        place = operation.arguments.get(argument)
        if not isinstance(place, Mapping) or not isinstance(place.get("name"), str):
            raise CallFailed(Failure.PROTOCOL, f"the operation has no argument {quoted(argument)}")
        if value is not None or place.get("in") == "body":
            _fill(request, argument, value, place)
    return request


def _fill(request: _Request, argument: str, value: Any, place: Mapping[str, Any]) -> None:
    name = place["name"]
    match place.get("in"):
        case "path":
            if {".", ".."} & set(re.split(r"[/\\;?#]", unquote(as_text(value)))):
                raise CallFailed(Failure.PROTOCOL, f"the argument {quoted(argument)} would change the path")
            request.paths[name] = in_path(value, place)
        case "query":
            request.query += in_query(value, place)
        case "querystring":
            request.raw_query.append(_querystring(value, place))
        case "header":
            text = in_header(value, place)
            if name.lower() in _NEVER_SET or not is_header(name, text):
                raise CallFailed(Failure.PROTOCOL, f"the argument {quoted(argument)} cannot be sent as a header")
            request.headers[name.lower()] = text
        case "cookie":
            request.cookies += in_cookie(value, place)
        case "body":
            request.body, kind = body_of(value, place)
            if not is_header("content-type", kind):
                raise CallFailed(Failure.PROTOCOL, f"the body's type {quoted(kind)} cannot be sent")
            request.headers["content-type"] = kind
        case _:
            raise CallFailed(Failure.PROTOCOL, f"the argument {quoted(argument)} has no place in the request")


def _querystring(value: Any, place: Mapping[str, Any]) -> str:
    """Return a whole query (OpenAPI 3.2): a form of an object, else the document that the place names."""
    if isinstance(value, dict) and "json" not in str(place.get("contentType", "")):
        return "&".join(f"{name}={text}" for name, text in in_query(value, {"name": "", "style": "form"}))
    return encoded(as_text(value), "=&" if isinstance(value, str) else "")


def _headers(request: _Request, credentials: Credentials) -> dict[str, str]:
    """Return the headers of a request: those of the credentials win over those of arguments."""
    headers = {**request.headers, "accept": _ACCEPT, "accept-encoding": "identity"}
    own = headers_of(credentials)
    cookies = [own.pop("cookie", ""), request.headers.get("cookie", "")]
    cookies += [f"{name}={text}" for name, text in request.cookies]
    if cookie := "; ".join(filter(None, cookies)):
        headers["cookie"] = cookie
    return headers | own


def _host_of(operation: Operation) -> str:
    """Return what messages call a server."""
    try:
        return shown(httpx.URL(operation.url).host)
    except (httpx.InvalidURL, ValueError):
        return "the server"
