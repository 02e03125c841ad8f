"""The kinds of things that `get`, `list` and `delete` know, and how people name one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from skillroute_local.commands.tables import Column
from skillroute_local.errors import LocalError, Misused, Refused

if TYPE_CHECKING:
    from skillroute_local.client import Client, Resource


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of things.

    Parameters
    ----------
    name, plural : str
        What the command line calls one, and several.
    resource : str
        What the client calls them.
    columns : tuple of Column
        Of the table; their titles are the fields, with spaces.
    named_by : tuple of str
        The filters of the list by which one of a name is found; none where ids are names.
    names : callable
        Returns the values of these filters from what a person wrote; None of those that it leaves open.
    """

    name: str
    plural: str
    resource: Resource
    columns: tuple[Column, ...]
    named_by: tuple[str, ...] = ()
    names: Callable[[str], tuple[str | None, ...]] = lambda text: (text,)

    def is_id(self, text: str) -> bool:
        """Return whether what a person wrote is taken for an id, though it may be a name as well."""
        return not self.named_by or (text.isascii() and text.isdecimal())

    def is_whole(self, text: str) -> bool:
        """Return whether a name that a person wrote says all that makes one: of a tool the server, too."""
        return None not in self.names(text)

    def whole_name_of(self, row: dict[str, Any]) -> str:
        """Return the name of a row that no other one has: that of a tool without a server begins with a slash."""
        return "/".join(str(row.get(field) or "") for field in self.named_by) or str(row["id"])

    def name_of(self, row: dict[str, Any]) -> str:
        """Return how a person would name a row: what `find` finds it by."""
        return "/".join(str(row[field]) for field in self.named_by if row.get(field)) or str(row["id"])

    def cells(self, row: dict[str, Any]) -> list[str]:
        """Return the cells of a row of the table."""
        return [_cell(row.get(column.title.replace(" ", "_"))) for column in self.columns]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _columns(*titles: str, sentence: str | None) -> tuple[Column, ...]:
    return (*map(Column, titles), *([Column(sentence, sentences=True)] if sentence else []))


def _server_and_name(text: str) -> tuple[str | None, ...]:
    server, slash, name = text.rpartition("/")
    return (server, name) if slash else (None, name)


KINDS = (
    Kind("skill", "skills", "skills", _columns("id", "name", "tool_count", sentence="description")),
    Kind(
        "tool",
        "tools",
        "tools",
        _columns("id", "type", "server", "name", sentence="description"),
        ("server", "name"),
        _server_and_name,
    ),
    Kind(
        "server",
        "servers",
        "servers",
        _columns("id", "path", "name", "seen_outcome", sentence="description"),
        ("path",),
    ),
    Kind("agent", "agents", "agents", _columns("id", "path", "name", sentence="description"), ("path",)),
    Kind("project", "projects", "projects", _columns("id", "key", "name", sentence="description"), ("key",)),
    Kind("product", "products", "products", _columns("id", "key", "name", sentence="projects"), ("key",)),
    Kind("mail-agent", "mail-agents", "mail_agents", _columns("id", "name", sentence="description"), ("name",)),
    Kind(
        "message",
        "messages",
        "messages",
        _columns("id", "key", "project", "from", sentence="subject"),
        ("key",),
    ),
)

_BY_NAME = {name: kind for kind in KINDS for name in (kind.name, kind.plural)}
KIND_NAMES = ", ".join(kind.name for kind in KINDS)


def kind_of(name: str) -> Kind:
    """Return the kind of a name, of one or of several. Raises a usage error where there is none."""
    kind = _BY_NAME.get(name)
    if kind is None:
        raise typer.BadParameter(f"{name!r} is not a kind; there are {KIND_NAMES}")
    return kind


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that a person named, by its id and by its whole name; where an id was written this is both."""

    id: str
    name: str


def find(client: Client, kind: Kind, text: str, *, by_name: bool = False) -> Thing:
    """Return what was written where it is an id, else the one that has this name. A number is an id.

    Parameters
    ----------
    by_name : bool
        A number is a name, too.

    Raises
    ------
    Refused
        None has the name: the same as the API's 404.
    Misused
        Several have it.
    """
    if kind.is_id(text) and not (by_name and kind.named_by):
        return Thing(text, text)
    rows, total = _of_name(client, kind, text)
    if total == 1:
        return Thing(str(rows[0]["id"]), kind.whole_name_of(rows[0]))
    if not rows:
        message = f"there is no {kind.name} {text}: `skillroute list {kind.plural}` shows them"
        raise Refused(message, status=404, detail=message, error_code="not_found")
    ids = ", ".join(f"{row['id']} ({row.get('type') or kind.name_of(row)})" for row in rows)
    raise Misused(f"{text} names {total} {kind.plural}: give one of the ids {ids}")


@contextmanager
def offering_name(client: Client, kind: Kind, text: str) -> Iterator[None]:
    """Say of a number that is no id whether something has it for a name."""
    try:
        yield
    except Refused as error:
        if error.status != 404 or not (kind.named_by and kind.is_id(text)):
            raise
        try:
            rows, _ = _of_name(client, kind, text)
        except LocalError:
            rows = []
        if not rows:
            raise
        hint = f"{kind.name} {rows[0]['id']} has the name {text}: --name takes a number for a name"
        raise error.extended(hint) from error


def _of_name(client: Client, kind: Kind, text: str) -> tuple[list[dict[str, Any]], int]:
    where = {field: value for field, value in zip(kind.named_by, kind.names(text), strict=True) if value is not None}
    if not any(where.values()):
        raise Misused(f"{text!r} names no {kind.name}")
    return client.page(kind.resource, limit=5, offset=0, where=where)
