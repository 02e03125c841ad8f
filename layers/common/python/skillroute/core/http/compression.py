"""Compressed answers (gzip), for those who take them: a page of tools takes a fifth on the way (docs/adr/0054).

What compresses well reveals what was said twice: where secrets stand beside text that others chose, the size of the
answer tells whether they agree (BREACH). Tokens and signatures are in no body. Mail is the one thing that others write
into what an agent reads; its answers, `no-store` all of them, are never compressed.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MIN_BYTES = 4096
"""Answers below this stay as they are: they fit into the first packets of a connection either way."""

LEVEL = 4
"""Of gzip's nine: 51 KB (50 tools) become 23 % in 0.6 ms. Level 9 leaves 21 % in 2.4 ms, level 1 26 % in 0.4."""

_LARGE = 128 * 1024

_GZIP = re.compile(r"(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?P<gzip>[\d.]+)\s*)?(?=,|$)", re.IGNORECASE)
_ANY = re.compile(r"(?:^|,)\s*\*\s*(?:;\s*q=(?P<any>[\d.]+)\s*)?(?=,|$)")


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether a caller takes gzip, by the header `Accept-Encoding` (RFC 9110, 12.5.3).

    Examples
    --------
    >>> takes_gzip("br, gzip"), takes_gzip("gzip;q=0, *"), takes_gzip("*"), takes_gzip("identity")
    (True, False, True, False)
    """
    found = _GZIP.search(accept_encoding) or _ANY.search(accept_encoding)
    if found is None:
        return False
    quality = found[1]
    return quality is None or quality.strip("0.") != ""


class Compressed:
    """ASGI middleware that compresses answers of JSON and text from `MIN_BYTES` on.

    Bodies that come in pieces, as streams do, are left alone: compressed, a piece would wait for the next.

    Parameters
    ----------
    but : collection of paths
        Those whose answers are left alone: they may have mail in them, and say so nowhere.
    """

    def __init__(self, app: ASGIApp, but: Collection[str] = ()) -> None:
        self._app = app
        self._but = frozenset(but)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in self._but:
            wanted = takes_gzip(",".join(Headers(scope=scope).getlist("accept-encoding")))
            send = _Sending(send, wanted=wanted)
        await self._app(scope, receive, send)


class _Sending:
    """Holds an answer's start back until its body shows whether it is compressed."""

    def __init__(self, send: Send, *, wanted: bool) -> None:
        self._send = send
        self._wanted = wanted
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            message = await self._settled(start, message)
            await self._send(start)
        await self._send(message)

    async def _settled(self, start: Message, message: Message) -> Message:
        headers = MutableHeaders(raw=start["headers"])
        body = message.get("body", b"")
        if message.get("more_body") or len(body) < MIN_BYTES or not _may_be_compressed(headers):
            return message
        headers.add_vary_header("Accept-Encoding")
        if not self._wanted:
            return message
        # What takes milliseconds must not keep other requests of the process waiting.
        body = await run_in_threadpool(_compress, body) if len(body) >= _LARGE else _compress(body)
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
        if headers.get("etag", "").startswith('"'):
            headers["ETag"] = f"W/{headers['etag']}"  # the bytes are others, what they say is the same
        start["headers"] = headers.raw
        return {**message, "body": body}


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


def _may_be_compressed(headers: Headers) -> bool:
    if "content-encoding" in headers or "no-store" in headers.get("cache-control", ""):
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("text/") and kind != "text/event-stream")
