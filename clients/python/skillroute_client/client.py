"""The two clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from skillroute_client.connection import (
    FROM_ENVIRONMENT,
    Connection,
    ConnectionOptions,
    FromEnvironment,
    is_here,
    url_of,
)
from skillroute_client.engines import Async, AsyncEngine, Sync, SyncEngine
from skillroute_client.resources.root import Root
from skillroute_client.retrying import Retry


class Skillroute(Root[Sync]):
    """A client that blocks. It may be shared by threads.

    Parameters
    ----------
    url : str or None
        Such as ``https://api.example.com``. Left out, it is ``SKILLROUTE_URL``, else ``http://localhost:3000``.
    token : str, callable or None
        Sent as a bearer token; a callable is asked for each request's. Left out, it is ``SKILLROUTE_TOKEN``; None
        sends none.
    sign_region : str or None
        Instead of a token: requests are signed for API Gateway in this region (Signature Version 4). Left out, it is
        ``SKILLROUTE_SIGN_REGION``. Without a token, those to a host of execute-api are signed for the region in its
        name, unless this is None.
    credentials : Credentials, callable or None
        Signs. None means ``AWS_ACCESS_KEY_ID`` and its companions, then what botocore finds where it is installed.
    timeout_s : float
        For each attempt, in seconds; 60 unless it is given.
    retry : Retry
        When a call is tried again: 429, 502, 503, 504 and broken connections, where it does no harm.
    http : httpx.Client or None
        Sends requests instead of one of our own, for proxies, certificates and tests; it stays open.
    sleep : callable
        Waits between attempts; replaced in tests.

    Raises
    ------
    ConfigurationError
        The URL is none, or there are both a token and a region.

    Examples
    --------
    >>> with Skillroute() as client:
    ...     for tool in client.search("send a message to the team").tools:
    ...         print(tool.score, tool.server, tool.name)
    """

    def __init__(
        self,
        url: str | FromEnvironment | None = FROM_ENVIRONMENT,
        *,
        retry: Retry | None = None,
        http: httpx.Client | None = None,
        sleep: Callable[[float], Any] = time.sleep,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        chosen = http or httpx.Client(trust_env=not is_here(url_of(url)))
        self._own_http = None if http else chosen
        self.connection = Connection(chosen, url=url, **options)
        super().__init__(SyncEngine(chosen, self.connection, retry or Retry(), sleep))

    def close(self) -> None:
        """Close the connections, unless they are of a client that was given."""
        if self._own_http:
            self._own_http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


class AsyncSkillroute(Root[Async]):
    """A client to be awaited. Its parameters are those of `Skillroute`.

    Examples
    --------
    >>> async with AsyncSkillroute() as client:
    ...     answer = await client.search("send a message to the team")
    ...     async for skill in client.skills.list():
    ...         print(skill.id)
    """

    def __init__(
        self,
        url: str | FromEnvironment | None = FROM_ENVIRONMENT,
        *,
        retry: Retry | None = None,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        chosen = http or httpx.AsyncClient(trust_env=not is_here(url_of(url)))
        self._own_http = None if http else chosen
        self.connection = Connection(chosen, url=url, **options)
        super().__init__(AsyncEngine(chosen, self.connection, retry or Retry(), sleep))

    async def close(self) -> None:
        """Close the connections, unless they are of a client that was given."""
        if self._own_http:
            await self._own_http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()
