"""The kinds of things that `get`, `list` and `delete` know, and how people name one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from skillroute_local.commands.tables import Column
from skillroute_local.errors import Misused, Refused

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
        Returns the values of these filters from what a person wrote.
    """

    name: str
    plural: str
    resource: Resource
    columns: tuple[Column, ...]
    named_by: tuple[str, ...] = ()
    names: Callable[[str], tuple[str, ...]] = lambda text: (text,)

    def name_of(self, row: dict[str, Any]) -> str:
        """Return how a person would name a row: what `id_of` finds it by."""
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


def _server_and_name(text: str) -> tuple[str, ...]:
    server, slash, name = text.rpartition("/")
    return (server, name) if slash else ("", name)


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
    Kind("server", "servers", "servers", _columns("id", "path", "name", sentence="description"), ("path",)),
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
        raise typer.BadParameter(f"{name!r} is no kind of things; there are {KIND_NAMES}")
    return kind


def id_of(client: Client, kind: Kind, text: str) -> str:
    """Return the id of one thing: what was written where it is an id, else that of the one with this name.

    Raises
    ------
    Refused
        None has the name: the same as the API's 404.
    Misused
        Several have it.
    """
    if not kind.named_by or text.isdecimal():
        return text
    where = {field: value for field, value in zip(kind.named_by, kind.names(text), strict=True) if value}
    if not where:
        raise Misused(f"{text!r} names no {kind.name}")
    rows, total = client.page(kind.resource, limit=5, offset=0, where=where)
    if total == 1:
        return str(rows[0]["id"])
    if not rows:
        message = f"there is no {kind.name} {text}: `skillroute list {kind.plural}` shows them"
        raise Refused(message, status=404, detail=message, error_code="not_found")
    ids = ", ".join(f"{row['id']} ({row.get('type') or kind.name_of(row)})" for row in rows)
    raise Misused(f"{text} names {total} {kind.plural}: give one of the ids {ids}")
