"""The transport of revision 2024-11-05: answers come over one stream of events, requests go to the place it names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager

import httpx

from skillroute.calling.exchange import Budget, chunks, media_type, quoted, refuse_status
from skillroute.calling.mcp_client.events import Event, EventReader
from skillroute.calling.mcp_client.hearing import Hearing
from skillroute.calling.mcp_client.messages import (
    answers,
    initialize,
    notification,
    read_messages,
    result_of,
    to_bytes,
)
from skillroute.calling.mcp_client.negotiation import revision_in
from skillroute.calling.model import CallFailed, Failure, JsonObject

_MAX_ENDPOINT = 4_000


class HttpSse:
    """Exchanges messages with a server while its stream is open, see `opened`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        host: str,
        headers: Mapping[str, str],
        endpoint: httpx.URL,
        events: AsyncIterator[Event],
    ) -> None:
        self._client = client
        self._host = host
        self._headers = headers
        self._endpoint = endpoint
        self._events = events

    async def ask(self, message: JsonObject, hearing: Hearing) -> JsonObject:
        """Return the result of a request, which is sent while the stream is read: answers may come first.

        Raises
        ------
        CallFailed
        """
        sending = asyncio.ensure_future(self.tell(message))
        reading = asyncio.ensure_future(self._answer(message["id"], hearing))
        try:
            await asyncio.wait({sending, reading}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await sending
            return await reading
        finally:
            for task in (sending, reading):
                task.cancel()
            await asyncio.gather(sending, reading, return_exceptions=True)

    async def tell(self, message: JsonObject) -> None:
        """Send a message. Raises `CallFailed`."""
        headers = {**self._headers, "accept-encoding": "identity", "content-type": "application/json"}
        async with self._client.stream("POST", self._endpoint, content=to_bytes(message), headers=headers) as response:
            refuse_status(response, self._host)
            if response.status_code >= 400:
                text = f"{self._host} answers a message with status {response.status_code}"
                raise CallFailed(Failure.ERROR, text, code=response.status_code)

    async def _answer(self, id_: int, hearing: Hearing) -> JsonObject:
        async for event in self._events:
            if event.name != "message" or not event.data.strip():
                continue
            for message in read_messages(event.data, self._host):
                if answers(message, id_):
                    return result_of(message, self._host)
                if (back := hearing.take(message)) is not None:
                    await self.tell(back)
        raise CallFailed(Failure.PROTOCOL, f"{self._host} ended its stream of events before it had answered")


@asynccontextmanager
async def opened(
    client: httpx.AsyncClient, url: httpx.URL, host: str, headers: Mapping[str, str], budget: Budget
) -> AsyncIterator[HttpSse]:
    """Open the stream of a server, and shake hands.

    Raises
    ------
    CallFailed
    """
    sent = {**headers, "accept": "text/event-stream", "accept-encoding": "identity"}
    async with client.stream("GET", url, headers=sent) as response:
        refuse_status(response, host)
        kind = media_type(response.headers)
        if response.status_code >= 400:
            text = f"{host} answers with status {response.status_code}"
            raise CallFailed(Failure.ERROR, text, code=response.status_code)
        if kind != "text/event-stream":
            raise CallFailed(
                Failure.PROTOCOL, f"{host} answers with {quoted(kind)}, where a stream of events has to come"
            )
        async with aclosing(_events(response, budget)) as events:
            endpoint = await _endpoint(events, url, host)
            wire = HttpSse(client, host, headers, endpoint, events)
            revision_in(await wire.ask(initialize(0), Hearing(host, 0)), host)
            await wire.tell(notification("notifications/initialized"))
            yield wire


async def _events(response: httpx.Response, budget: Budget) -> AsyncGenerator[Event, None]:
    reader = EventReader()
    async with aclosing(chunks(response, budget)) as parts:
        async for part in parts:
            for event in reader.feed(part):
                yield event


async def _endpoint(events: AsyncIterator[Event], url: httpx.URL, host: str) -> httpx.URL:
    """Return where messages go: the credentials go there, so it has to be of the same origin."""
    async for event in events:
        if event.name != "endpoint":
            continue
        try:
            found = url.join(event.data[:_MAX_ENDPOINT].decode("utf-8"))
        except (httpx.InvalidURL, ValueError):
            break
        if (found.scheme, found.raw_host, found.port, found.userinfo) != (url.scheme, url.raw_host, url.port, b""):
            raise CallFailed(Failure.PROTOCOL, f"{host} names an endpoint of another origin, which is not called")
        return found.copy_with(fragment=None)
    raise CallFailed(Failure.PROTOCOL, f"{host} names no endpoint in its stream of events")
