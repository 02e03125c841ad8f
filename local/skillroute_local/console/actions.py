"""The actions of the pages: functions over the client, by name.

A module of a page marks its functions with `action`; the first parameter is the client, the others are the fields of
the request's body, checked by their annotations. One that takes long is an async generator: the page is sent each event
that it yields.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

from pydantic import ConfigDict, validate_call

P = ParamSpec("P")
R = TypeVar("R", bound=Awaitable[Any] | AsyncIterator[Any])

Action = Callable[..., Awaitable[Any] | AsyncIterator[Any]]


class Actions(dict[str, Action]):
    """The actions of a page, by name.

    Parameters
    ----------
    page : str
        Stands before each name: ``search/run``.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page

    def action(self, function: Callable[P, R]) -> Callable[P, R]:
        """Register a function under its own name; called with wrong fields it raises pydantic's `ValidationError`."""
        checked = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
        self[f"{self._page}/{function.__name__}"] = checked
        return function
