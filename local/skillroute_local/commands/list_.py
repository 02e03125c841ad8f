"""`skillroute list`: the things of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands import completion
from skillroute_local.commands.kinds import KINDS, Kind, kind_of
from skillroute_local.commands.output import NoSchemas, note, print_line, without_schemas
from skillroute_local.commands.search_options import ItemTypeOption
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import show_table
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client, Resource

PAGE = 500
_FILTERS = {
    "tool": ("server", "name", "type", "tag", "skill_id"),
    "server": ("path", "tag"),
    "agent": ("path", "tag"),
    "project": ("key",),
    "product": ("key",),
    "mail-agent": ("name",),
    "message": ("key", "sender", "recipient"),
}
"""The filters of the lists that the command line offers."""


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"One of {', '.join(kind.plural for kind in KINDS)}.",
            autocompletion=completion.kinds_of_lists,
        ),
    ],
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 100,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    server: Annotated[
        str | None, typer.Option(help="Tools of this server.", autocompletion=completion.server_names)
    ] = None,
    skill: Annotated[str | None, typer.Option(help="Tools of this skill.", autocompletion=completion.skill_ids)] = None,
    item_type: ItemTypeOption = None,
    name: Annotated[str | None, typer.Option(help="Tools or mail agents of this name.")] = None,
    path: Annotated[str | None, typer.Option(help="The server or agent of this path.")] = None,
    tag: Annotated[str | None, typer.Option(help="Tools, servers or agents with this tag.")] = None,
    key: Annotated[str | None, typer.Option(help="The project, product or message of this key.")] = None,
    sender: Annotated[str | None, typer.Option(help="Messages of this agent.")] = None,
    recipient: Annotated[str | None, typer.Option(help="Messages to this agent.")] = None,
    no_schemas: NoSchemas = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List the things of a kind; all filters must hold. With --json an array, as the API answers it."""
    chosen = kind_of(kind)
    given = {
        "server": server, "skill_id": skill, "type": item_type, "name": name, "path": path, "tag": tag, "key": key,
        "sender": sender, "recipient": recipient,
    }  # fmt: skip
    where = {field: value for field, value in given.items() if value is not None}
    _require_filters(chosen, where)
    with client_for(url, token, sign_region) as client:
        rows, total = rows_of(client, chosen.resource, where, None if all_ else limit)
    if as_json:
        print_json(without_schemas(rows) if no_schemas else rows)
    elif rows:
        show_table(chosen.columns, [chosen.cells(row) for row in rows])
    else:
        print_line(f"there are no {chosen.plural}{' with these filters' if where else ''}")
    if len(rows) < total:
        note(f"{len(rows)} of {total}; --all shows the others too")


def rows_of(
    client: Client, resource: Resource, where: dict[str, str], most: int | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the first rows of a list, and how many there are; `most` None returns all."""
    return rows_of_pages(lambda limit, offset: client.page(resource, limit=limit, offset=offset, where=where), most)


def rows_of_pages(
    page_at: Callable[[int, int], tuple[list[dict[str, Any]], int]], most: int | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the same of pages that are asked for by their limit and offset, and come with the total."""
    rows: list[dict[str, Any]] = []
    while True:
        size = PAGE if most is None else min(PAGE, most - len(rows))
        page, total = page_at(size, len(rows))
        rows += page
        if not page or len(rows) >= total or (most is not None and len(rows) >= most):
            return rows, max(total, len(rows))


def _require_filters(kind: Kind, where: dict[str, str]) -> None:
    allowed = _FILTERS.get(kind.name, ())
    for field in where:
        if field not in allowed:
            options = ", ".join(f"--{_option(name)}" for name in allowed) or "no filters"
            raise Misused(f"{kind.plural} have no --{_option(field)}; they take {options}")


def _option(field: str) -> str:
    return {"skill_id": "skill"}.get(field, field)
