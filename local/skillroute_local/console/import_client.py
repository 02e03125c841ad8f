"""The client of the importers over that of the console: they block in a thread, and it calls on its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import skillroute_client as api

from skillroute_local.client import Client, Resource

T = TypeVar("T")


class AwaitedClient(Client):
    """Calls a Skillroute as the console's client does: with the caller's token, over its connections.

    Parameters
    ----------
    client : AsyncSkillroute
    loop : event loop
        Of that client; another thread than this object's runs it.

    Attributes
    ----------
    read : set of str
        Names each row that lists had, with its content.
    """

    def __init__(self, client: api.AsyncSkillroute, loop: asyncio.AbstractEventLoop) -> None:
        # Both clients have the same operations; those of this one are awaited in `_call`.
        self._api = cast(api.Skillroute, client)
        self._url = client.connection.url
        self._loop = loop
        self.lost_answers = 0
        self.approves = False
        self.read: set[str] = set()

    def page(
        self, resource: Resource, *, limit: int, offset: int, where: Mapping[str, str]
    ) -> tuple[list[dict[str, Any]], int]:
        """Return a page of a list, and note what it has."""
        rows, total = super().page(resource, limit=limit, offset=offset, where=where)
        for row in rows:
            content = row.get("content_hash") or row.get("updated_at")
            self.read.add(f"{resource} {row.get('id')} {content} {row.get('is_switched_off')}")
        return rows, total

    def _call(self, call: Callable[[], T]) -> T:
        async def awaited() -> T:
            result: T = await cast(Any, call())
            return result

        with self._translated():
            return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()
