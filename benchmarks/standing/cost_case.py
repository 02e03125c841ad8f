"""A request whose cost is measured, and what the cases of all routes share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from benchmarks.standing.cost_world import Json, World, skill

Route = tuple[str, str]
Work = Literal["one", "bulk", "table", "check"]
Body = Json | bytes | Callable[[], Json | bytes] | None

MIB = 1024 * 1024
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Case:
    """One request.

    Attributes
    ----------
    target : str
        The path and its query.
    body : JSON, bytes, callable or None
        What is sent. Large ones are made when they are sent: together they would be gigabytes.
    statuses : tuple of int
        What may be answered.
    work : {"one", "bulk", "table", "check"}
        Which bounds it has: of one search, page or thing, of hundreds that are written, of making the table of 1,000
        skills, of the check of everything.
    embeds : bool
        Whether the model is asked for vectors; else they are drawn at random.
    may_fail : bool
        Whether some of a bulk write is meant to be refused.
    """

    name: str
    target: str
    body: Body = None
    statuses: tuple[int, ...] = (200,)
    work: Work = "one"
    embeds: bool = True
    may_fail: bool = False

    def sent(self) -> bytes | None:
        """Return the body as it is sent."""
        made = self.body() if callable(self.body) else self.body
        return made if made is None or isinstance(made, bytes) else json.dumps(made, ensure_ascii=False).encode()


def filled(path: str, id_: object = 1) -> str:
    """Return a path with an id."""
    head, opened, rest = path.partition("{")
    return f"{head}{id_}{rest.partition('}')[2]}" if opened else path


def within(text: str, most_bytes: int) -> str:
    """Return as much of a text as has so many bytes in a body: what JSON escapes has two, or six."""
    share = most_bytes * len(text) // (len(json.dumps(text, ensure_ascii=False).encode()) - 2)
    return text[:share]


def pages(*filters: str, **largest: str) -> Callable[[str, World], Iterator[Case]]:
    """Return the cases of a list: the largest page, the last one, and the longest conditions."""

    def cases(path: str, _: World) -> Iterator[Case]:
        path = path.replace("{skill_id}", skill(0)["id"])
        yield Case("1,000 of a page", f"{path}?limit=1000")
        yield Case("the second page", f"{path}?limit=1000&offset=50")
        yield Case("far behind the end", f"{path}?limit=1000&offset={2**31 - 1}")
        asked = dict.fromkeys(filters, "%_'\\" * 16) | largest
        if asked:
            yield Case("the most filters", f"{path}?limit=1000&{urlencode(asked)}")
        unknown = "&".join("a%22=b" for _ in range(10_000))
        yield Case("refused: 10,000 unknown parameters", f"{path}?{unknown}", statuses=(422,))

    return cases


def one_of(kind: str, status: int = 200, body: Body = None) -> Callable[[str, World], Iterator[Case]]:
    """Return the case of a route about one thing, which is one that may be deleted."""

    def cases(path: str, world: World) -> Iterator[Case]:
        yield Case("the largest", filled(path, world.spare(kind)), body, (status,))

    return cases
