"""One call of the API as a value: what is sent, what comes back, and whether it may be sent again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter

from skillroute_client.models.base import Answer
from skillroute_client.retrying import Repeat

T = TypeVar("T")
A = TypeVar("A", bound=Answer)
Body = Mapping[str, Any] | BaseModel
"""The body of a write: a mapping, one of the input models, or an answer that goes back as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One call.

    Parameters
    ----------
    method, path : str
        The path begins with a slash, and its ids are escaped already.
    read : callable
        Makes the result of an answer that is no error.
    params : mapping
        The query; None is left out.
    body : Any
        Sent as JSON; None sends nothing.
    headers : mapping
        In addition to those of all calls.
    repeat : Repeat
        Whether it may be sent again when an attempt failed.
    accepted : container of int
        Statuses of 400 and above that are answers as well.
    """

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeat: Repeat = Repeat.ALWAYS
    accepted: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


Calls = Generator[Call[Any], Any, T]
"""Several calls as one operation: it yields them, is sent the answer of each, and returns the result of all."""


def answer_of(call: Call[T]) -> Calls[T]:
    """Return the answer to a call of several: ``answer = yield from answer_of(call)``."""
    answer: T = yield call
    return answer


def path_of(*parts: str | int) -> str:
    """Return a path under ``/api/v1``, its parts escaped: an id may hold anything.

    Raises
    ------
    ValueError
        A part is empty or of dots alone: the path would be that of something else.
    """
    for part in parts:
        if str(part) in {"", ".", ".."}:
            raise ValueError(f"an id must not be {str(part)!r}")
    return "/api/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def one(type_: type[A]) -> Callable[[httpx.Response], A]:
    """Return what reads one thing, with its version where the answer has one."""
    adapter = TypeAdapter(type_)

    def read(response: httpx.Response) -> A:
        return adapter.validate_json(response.content).with_etag(response.headers.get("etag"))

    return read


def many(type_: type[A]) -> Callable[[httpx.Response], list[A]]:
    """Return what reads a list."""
    adapter = TypeAdapter(list[type_])  # type: ignore[valid-type]
    return lambda response: adapter.validate_json(response.content)


def nothing(_: httpx.Response) -> None:
    """Read an answer without a body."""


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are given: None stands for the server's default."""
    return {name: value for name, value in options.items() if value is not None}


def plain(value: Body) -> dict[str, Any]:
    """Return what is sent of a body: of a model the fields that were set, as they are called in JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return dict(value)


def plain_list(values: Iterable[Body]) -> list[dict[str, Any]]:
    """Return what is sent of several."""
    return [plain(value) for value in values]


def conditional(version: str | None) -> dict[str, Any]:
    """Return the parts of a call that changes one version of a thing: sent twice, the second would be refused."""
    if version is None:
        return {"repeat": Repeat.ALWAYS}
    return {"headers": {"If-Match": version}, "repeat": Repeat.IF_REFUSED}


def only_if_new() -> dict[str, Any]:
    """Return the parts of a call that only creates: sent twice, the second would be refused."""
    return {"headers": {"If-None-Match": "*"}, "repeat": Repeat.IF_REFUSED}
