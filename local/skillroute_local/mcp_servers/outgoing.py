"""The stream of what is sent to an MCP server: one that no longer reads is given up."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import anyio
from anyio.abc import AsyncResource
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from skillroute_local.mcp_servers.model import LISTS, ListedKind

_KINDS = {method: kind for kind, (method, _) in LISTS.items()}


class Outgoing(AsyncResource):
    """A stream of messages to a server; a message that is not taken in time ends the connection.

    The SDK's timeout of a request begins after its message was taken: without this one, calls of a program that is
    stopped would wait for ever behind the message that fills its pipe.

    Parameters
    ----------
    ended : anyio.Event
        Set when messages were left lying for `write_s` seconds, be it in several attempts.
    asked : mutable mapping
        Where the ids of requests for lists are noted, with the kind of the list.
    """

    def __init__(self, stream: Any, ended: anyio.Event, write_s: float, asked: MutableMapping[str, ListedKind]) -> None:
        self._stream = stream
        self._ended = ended
        self._write_s = write_s
        self._waited_s = 0.0
        self._asked = asked

    async def send(self, message: SessionMessage) -> None:
        """Send a message. Raises `TimeoutError` where it is not taken in time."""
        if isinstance(request := message.message, JSONRPCRequest) and request.method in _KINDS:
            self._asked[str(request.id)] = _KINDS[request.method]
        began = anyio.current_time()
        try:
            with anyio.fail_after(self._write_s - self._waited_s):
                await self._stream.send(message)
        except TimeoutError:
            self._ended.set()
            raise
        except anyio.get_cancelled_exc_class():
            self._waited_s += anyio.current_time() - began
            raise
        self._waited_s = 0.0

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()
