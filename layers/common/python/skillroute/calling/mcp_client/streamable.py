"""The transport "streamable HTTP": a request is one POST, whose answer is JSON or a stream of events."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

import httpx

from skillroute.calling.exchange import Budget, beginning, chunks, media_type, quoted, refuse_status, whole
from skillroute.calling.mcp_client.events import EventReader
from skillroute.calling.mcp_client.hearing import Hearing
from skillroute.calling.mcp_client.messages import (
    STATELESS,
    answers,
    read_messages,
    result_of,
    stateless,
    stateless_headers,
    to_bytes,
)
from skillroute.calling.mcp_client.sessions import Spoken
from skillroute.calling.model import CallFailed, Failure, JsonObject

_SESSION = "mcp-session-id"
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,1024}")
_NAMED_SINCE = "2025-06-18"  # the revision from which on requests name theirs in a header


class SessionLost(CallFailed):
    """The server does not know the session any more: a new one has to begin."""


class Streamable:
    """Exchanges messages with a server.

    Parameters
    ----------
    client : httpx.AsyncClient
    url : str
    host : str
        As messages name it.
    headers : mapping of str to str
        Of the credentials.
    """

    def __init__(self, client: httpx.AsyncClient, url: str, host: str, headers: Mapping[str, str]) -> None:
        self._client = client
        self._url = url
        self._host = host
        self._headers = headers

    async def ask(
        self,
        message: JsonObject,
        spoken: Spoken | None,
        budget: Budget,
        hearing: Hearing,
        extra: Mapping[str, str] | None = None,
    ) -> JsonObject:
        """Return the result of a request; of `initialize`, before which nothing is spoken, see `begin`.

        Raises
        ------
        CallFailed
        """
        sent = stateless(message) if spoken is not None and spoken.revision == STATELESS else message
        headers = self._headers_of(sent, spoken) | dict(extra or {})
        async with self._client.stream("POST", self._url, content=to_bytes(sent), headers=headers) as response:
            return await self._answer(response, sent["id"], spoken, budget, hearing)

    async def begin(self, message: JsonObject, budget: Budget, hearing: Hearing) -> tuple[JsonObject, str | None]:
        """Return the result of `initialize` and the id of the session that the server keeps, if it keeps one.

        Raises
        ------
        CallFailed
        """
        headers = self._headers_of(message, None)
        async with self._client.stream("POST", self._url, content=to_bytes(message), headers=headers) as response:
            result = await self._answer(response, message["id"], None, budget, hearing)
            session_id = response.headers.get(_SESSION)
        if session_id is not None and not _SESSION_ID.fullmatch(session_id):
            raise CallFailed(Failure.PROTOCOL, f"{self._host} answers with a session id that cannot be sent back")
        return result, session_id

    async def tell(self, message: JsonObject, spoken: Spoken | None) -> None:
        """Send a notification, or an answer to a request of the server.

        Raises
        ------
        CallFailed
        """
        headers = self._headers_of(message, spoken)
        async with self._client.stream("POST", self._url, content=to_bytes(message), headers=headers) as response:
            self._check_session(response, spoken)
            refuse_status(response, self._host)
            if response.status_code >= 400:
                text = f"{self._host} answers a notification with status {response.status_code}"
                raise CallFailed(Failure.ERROR, text, code=response.status_code)

    def _headers_of(self, message: JsonObject, spoken: Spoken | None) -> dict[str, str]:
        headers = {
            **self._headers,
            "accept": "application/json, text/event-stream",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        if spoken is None:
            return headers
        if spoken.revision == STATELESS:
            return headers | (stateless_headers(message) if "id" in message and "method" in message else {})
        if spoken.revision >= _NAMED_SINCE:
            headers["mcp-protocol-version"] = spoken.revision
        if spoken.session_id is not None:
            headers[_SESSION] = spoken.session_id
        return headers

    async def _answer(
        self, response: httpx.Response, id_: int, spoken: Spoken | None, budget: Budget, hearing: Hearing
    ) -> JsonObject:
        self._check_session(response, spoken)
        refuse_status(response, self._host)
        if response.status_code >= 400:
            return await self._refused(response, id_)
        kind = media_type(response.headers)
        if response.status_code == 202 or kind not in {"application/json", "text/event-stream"}:
            shown = quoted(kind) if kind and response.status_code != 202 else f"nothing ({response.status_code})"
            raise CallFailed(
                Failure.PROTOCOL, f"{self._host} answers with {shown}, where JSON or a stream of events has to come"
            )
        if kind == "application/json":
            for message in read_messages(await whole(response, budget), self._host):
                if answers(message, id_):
                    return result_of(message, self._host)
            raise CallFailed(Failure.PROTOCOL, f"{self._host} answers with JSON that is no answer to the request")
        async with aclosing(messages_in(response, budget, self._host)) as messages:
            async for message in messages:
                if answers(message, id_):
                    return result_of(message, self._host)
                if (back := hearing.take(message)) is not None:
                    await self.tell(back, spoken)
        raise CallFailed(Failure.PROTOCOL, f"{self._host} ended its stream of events before it had answered")

    def _check_session(self, response: httpx.Response, spoken: Spoken | None) -> None:
        if response.status_code == 404 and spoken is not None and spoken.session_id is not None:
            raise SessionLost(Failure.ERROR, f"{self._host} does not know the session any more", code=404)

    async def _refused(self, response: httpx.Response, id_: int) -> JsonObject:
        """Raise the error that an answer has in its body, or its status."""
        text = await beginning(response)
        if media_type(response.headers) == "application/json":
            try:
                messages = read_messages(text, self._host)
            except CallFailed:
                messages = []
            for message in messages:
                if answers(message, id_):
                    return result_of(message, self._host)
        status, shown = response.status_code, quoted(text.decode("utf-8", "replace"))
        raise CallFailed(
            Failure.ERROR, f"{self._host} answers with status {status}{': ' if shown else ''}{shown}", code=status
        )


async def messages_in(response: httpx.Response, budget: Budget, host: str) -> AsyncGenerator[JsonObject, None]:
    """Yield the messages of a stream of events. Raises `CallFailed`."""
    reader = EventReader()
    async with aclosing(chunks(response, budget)) as parts:
        async for part in parts:
            for event in reader.feed(part):
                # Without data it only has the id that a stream could be resumed by.
                if event.name == "message" and event.data.strip():
                    for message in read_messages(event.data, host):
                        yield message
