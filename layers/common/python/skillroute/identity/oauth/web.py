"""Requests to authorization servers: bounded in bytes and time, redirects not followed, no token in what is raised."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import DependencyUnavailable, SkillrouteError
from skillroute.identity.model import origin_of

if TYPE_CHECKING:
    import httpx

ClientFactory = Callable[[], "httpx.AsyncClient"]

MAX_BYTES = 262_144
TIMEOUT_S = 8.0


class LoginNotPossible(SkillrouteError):
    """A server, or its authorization server, does not offer what a login needs. The sentence says what it lacks."""

    code = ErrorCode.LOGIN_NOT_POSSIBLE


class AuthorizationServerUnavailable(DependencyUnavailable):
    """An authorization server cannot be reached, fails, or took too long."""

    public_message = "the server, or its authorization server, cannot be reached: try again later"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whole. `repr` has neither headers nor body."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> dict[str, Any] | None:
        """Return the object that the body is; None where it is no JSON object."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


class Web:
    """Sends requests. Only from threads that run no event loop.

    Parameters
    ----------
    client : callable
        Makes the client of one request, which checks the addresses that it connects to.
    plain_origins : container of str
        Origins that may be reached without TLS: ``http://127.0.0.1:8080``.
    refusals : tuple of type
        Errors of the client that refuse an address, in a sentence for callers.
    timeout_s : float
        Of one request, all of it.
    """

    def __init__(
        self,
        client: ClientFactory,
        *,
        plain_origins: Container[str] = (),
        refusals: tuple[type[Exception], ...] = (),
        timeout_s: float = TIMEOUT_S,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._client = client
        self._plain_origins = plain_origins
        self._refusals = refusals
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes

    def check(self, url: object, what: str) -> str:
        """Return an address that may be used. Raises `LoginNotPossible` naming what it is of."""
        if not isinstance(url, str) or not url.isprintable() or len(url) > 2048:
            raise LoginNotPossible(f"{what} is no address")
        origin = origin_of(url)
        parts = urlsplit(url)
        if not origin or parts.username is not None or parts.password is not None or parts.fragment:
            raise LoginNotPossible(f"{what} is no address of HTTPS")
        if not origin.startswith("https://") and origin not in self._plain_origins:
            raise LoginNotPossible(f"{what} is without TLS: an address that begins with https:// is needed")
        return url

    def get(self, url: str, what: str) -> Answer:
        """Ask for a document. Raises `LoginNotPossible` and `AuthorizationServerUnavailable`."""
        return self._ask("GET", self.check(url, what), {"Accept": "application/json"}, None)

    def probe(self, url: str, what: str, body: Mapping[str, Any]) -> Answer:
        """Send a JSON object, and return status and headers of the answer: its body may have no end. Raises as `get`.

        A server of MCP answers with JSON or with a stream of events.
        """
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        return self._ask("POST", self.check(url, what), headers, json.dumps(body).encode("utf-8"), reads=False)

    def post_json(self, url: str, what: str, body: Mapping[str, Any]) -> Answer:
        """Send a JSON object. Raises as `get`."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return self._ask("POST", self.check(url, what), headers, json.dumps(body).encode("utf-8"))

    def post_form(self, url: str, what: str, form: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a form. Raises as `get`."""
        sent = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded", **headers}
        return self._ask("POST", self.check(url, what), sent, form)

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, reads: bool = True) -> Answer:
        import httpx  # noqa: PLC0415 (0.1 s, paid on first use)

        try:
            return asyncio.run(self._asked(method, url, headers, body, reads))
        except self._refusals as error:
            raise LoginNotPossible(str(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            failed = type(error).__name__  # its text may have the request
        raise AuthorizationServerUnavailable(f"{origin_of(url)} cannot be reached: {failed}")

    async def _asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, reads: bool
    ) -> Answer:
        async with asyncio.timeout(self._timeout_s), self._client() as client:
            sent = {**headers, "Accept-Encoding": "identity"}
            async with client.stream(method, url, headers=sent, content=body, follow_redirects=False) as answer:
                read = bytearray()
                # A few bytes that were compressed may be very many.
                if answer.headers.get("content-encoding", "identity") != "identity":
                    raise LoginNotPossible(f"{origin_of(url)} answers compressed, which was not asked for")
                async for chunk in answer.aiter_bytes() if reads else _nothing():
                    read += chunk
                    if len(read) > self._max_bytes:
                        raise LoginNotPossible(f"{origin_of(url)} answers with more than {self._max_bytes} bytes")
                return Answer(answer.status_code, {k.lower(): v for k, v in answer.headers.items()}, bytes(read))


async def _nothing() -> AsyncIterator[bytes]:
    """Yield nothing."""
    for nothing in list[bytes]():
        yield nothing
