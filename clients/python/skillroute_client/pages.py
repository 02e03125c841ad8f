"""Lists, page after page: iterated over they ask for the next page when it is needed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

import httpx
from pydantic import TypeAdapter

from skillroute_client.calls import Call, given

T = TypeVar("T")

_NEXT = re.compile(r"""<([^>]*)>\s*;[^,<]*\brel="?next"?""")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page.

    Attributes
    ----------
    items : list
        What is on it.
    total : int or None
        How many there are in all, where the server counts them.
    following : dict or None
        The query of the next page, None on the last one.
    """

    items: list[T]
    total: int | None
    following: dict[str, str] | None


class Listing(Generic[T]):
    """A list: the calls of its pages, which differ in the query alone.

    Parameters
    ----------
    path : str
        Of the list.
    type_ : type
        What it has.
    where : mapping
        Conditions, and the size of pages; of those that are None the server chooses.
    """

    def __init__(self, path: str, type_: type[T], where: Mapping[str, Any]) -> None:
        self._path = path
        self._where = given(where)
        self._adapter = TypeAdapter(list[type_])  # type: ignore[valid-type]

    def first(self) -> Call[Page[T]]:
        """Return the call of the first page."""
        return self._call(self._where)

    def after(self, page: Page[T]) -> Call[Page[T]] | None:
        """Return the call of the page after one, None when it is the last."""
        return None if page.following is None else self._call(page.following)

    def _call(self, params: Mapping[str, Any]) -> Call[Page[T]]:
        def read(response: httpx.Response) -> Page[T]:
            items = self._adapter.validate_json(response.content)
            total = response.headers.get("x-total-count")
            return Page(items, None if total is None else int(total), _following(response, params, len(items)))

        return Call(method="GET", path=self._path, read=read, params=params)


class Pages(Generic[T]):
    """A list, from its first page to its last: a fresh walk each time that it is iterated over.

    Examples
    --------
    >>> for skill in client.skills.list(is_active="all"):
    ...     print(skill.id)
    """

    def __init__(self, run: Callable[[Call[Page[T]]], Page[T]], listing: Listing[T]) -> None:
        self._run = run
        self._listing = listing

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def first(self) -> Page[T]:
        """Return the first page alone."""
        return self._run(self._listing.first())

    def pages(self) -> Iterator[Page[T]]:
        """Yield the pages."""
        call: Call[Page[T]] | None = self._listing.first()
        while call is not None:
            page = self._run(call)
            yield page
            call = self._listing.after(page)


class AsyncPages(Generic[T]):
    """A list, from its first page to its last: a fresh walk each time that it is iterated over.

    Examples
    --------
    >>> async for skill in client.skills.list(is_active="all"):
    ...     print(skill.id)
    """

    def __init__(self, run: Callable[[Call[Page[T]]], Awaitable[Page[T]]], listing: Listing[T]) -> None:
        self._run = run
        self._listing = listing

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def first(self) -> Page[T]:
        """Return the first page alone."""
        return await self._run(self._listing.first())

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield the pages."""
        call: Call[Page[T]] | None = self._listing.first()
        while call is not None:
            page = await self._run(call)
            yield page
            call = self._listing.after(page)


def _following(response: httpx.Response, asked: Mapping[str, Any], shown: int) -> dict[str, str] | None:
    """Return the query of the next page: that of ``Link``, else what the total says of the offset.

    Only the query is taken: a link may name a host that the gateway before Skillroute is not known by, and the token
    goes nowhere else.
    """
    link = _NEXT.search(response.headers.get("link", ""))
    if link:
        query = dict(parse_qsl(link[1].partition("?")[2], keep_blank_values=True))
        # One that leads to the page that it stands on would never end.
        return query if query and query != {name: str(value) for name, value in asked.items()} else None
    total = response.headers.get("x-total-count")
    following = int(asked.get("offset", 0)) + shown
    if not shown or total is None or following >= int(total) or "cursor" in asked:
        return None
    return {name: str(value) for name, value in asked.items()} | {"offset": str(following)}
