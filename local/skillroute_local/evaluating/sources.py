"""Where the tools are read and searched: in this process, or a Skillroute that is called over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from skillroute.catalogue.model import Item, ItemFilter
from skillroute.catalogue.text import argument_names
from skillroute.core.caller import Caller
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.wiring import Parts

from skillroute_local.client import Client
from skillroute_local.evaluating.catalogue import Tool

_PAGE = 500

Row = TypeVar("Row")


class Source(Protocol):
    """A catalogue, as one caller sees and searches it."""

    def tools(self) -> list[Tool]:
        """Return the active items."""
        ...

    def search(self, request: SearchRequest) -> SearchResponse:
        """Search."""
        ...


class InProcess:
    """Reads and searches through the use cases behind the routes, as an organisation's caller or a global one."""

    def __init__(self, parts: Parts, org_id: str | None) -> None:
        self._parts = parts
        self._caller = Caller(org_id=org_id)

    def tools(self) -> list[Tool]:
        """Return the active items that the caller sees. Raises `DatabaseUnavailable`."""
        read = self._parts.catalogue.read.page
        items = _all(lambda offset: read(ItemFilter(), self._caller, limit=_PAGE, offset=offset)[0])
        return [_of_item(item) for item in items if item.is_active]

    def search(self, request: SearchRequest) -> SearchResponse:
        """Search without a receipt: a judged request is no use. Raises `DatabaseUnavailable`."""
        return self._parts.tool_search.search(request, self._caller, door=None)


class OverHttp:
    """Calls the routes, as the caller of the client's token."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def tools(self) -> list[Tool]:
        """Return the active items that the caller sees. Raises `LocalError`."""
        rows = _all(lambda offset: self._client.items(limit=_PAGE, offset=offset))
        return [_of_row(row) for row in rows if row["is_active"]]

    def search(self, request: SearchRequest) -> SearchResponse:
        """Search without a receipt: a judged request is no use. Raises `LocalError`."""
        body = request.model_dump(mode="json", exclude_unset=True)
        return SearchResponse.model_validate(self._client.search(body | {"receipt": False}))


def _all(page: Callable[[int], list[Row]]) -> Iterable[Row]:
    """Yield the rows of all pages. A page may end before its limit, by its bytes; an empty one is the end."""
    offset = 0
    while rows := page(offset):
        yield from rows
        offset += len(rows)


def _of_item(item: Item) -> Tool:
    content = item.content
    server, type_, name = content.key
    return Tool(str(item.id), server, name, type_, content.description, tuple(argument_names(content.input_schema)))


def _of_row(row: dict[str, Any]) -> Tool:
    arguments = tuple(argument_names(row["input_schema"]))
    return Tool(str(row["id"]), row["server"] or "", row["name"], row["type"], row["description"], arguments)
