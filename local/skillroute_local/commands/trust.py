"""`skillroute trust`: tools whose definitions changed since they were approved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from skillroute_local.commands.learn_answers import plain
from skillroute_local.commands.output import print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

app = typer.Typer(
    help="Look at definitions of tools that changed, and approve or reject them. It needs scope catalog.",
    no_args_is_help=True,
)

Ids = Annotated[list[int], typer.Argument(metavar="ID...", help="The ids of items.", min=1)]
_PAGE = 100


@app.command("list")
def list_changed(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """List the items whose definitions are not the approved ones."""
    with client_for(url, token, sign_region) as client:
        found = [plain(each) for each in client.on("trust", lambda trust: list(trust.changed(limit=_PAGE)))]
    if as_json:
        print_json(found)
        return
    columns = [
        Column("id"),
        Column("server"),
        Column("name"),
        Column("changed"),
        Column("state"),
        Column("approved by"),
    ]
    show_table(columns, map(_cells, found))


@app.command()
def show(
    item: Annotated[int, typer.Argument(help="The id of an item.", min=1)],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Show how the definition of an item differs from the approved one."""
    with client_for(url, token, sign_region) as client:
        every = client.on("trust", lambda trust: trust.changed(limit=_PAGE))
        found = next((plain(each) for each in every if each.id == item), None)
    if found is None:
        raise Misused(f"item {item} is as it was approved, switched off, or not yours: see skillroute trust list")
    if as_json:
        print_json(found)
        return
    for difference in found["differences"]:
        print_line(f"{difference['field']}:")
        for line in difference["diff"]:
            print_line(f"  {line}")


@app.command()
def approve(
    ids: Ids, url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False
) -> None:
    """Approve items as they are now; what is quarantined is found and called again."""
    with client_for(url, token, sign_region) as client:
        _show_decided(client.on("trust", lambda trust: trust.approve(ids)), as_json=as_json)


@app.command()
def reject(
    ids: Ids, url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False
) -> None:
    """Switch items off whose definitions changed; they cannot be switched on until they are approved."""
    with client_for(url, token, sign_region) as client:
        _show_decided(client.on("trust", lambda trust: trust.reject(ids)), as_json=as_json)


def _show_decided(decided: Sequence[Any], *, as_json: bool) -> None:
    if as_json:
        print_json([plain(each) for each in decided])
    else:
        for each in decided:
            print_line(f"{each.id}: {each.status.replace('_', ' ')}")
    if missing := [each.id for each in decided if each.status == "not_found"]:
        raise Misused(f"no item of yours has the id {', '.join(map(str, missing))}")


def _cells(found: dict[str, Any]) -> tuple[str, ...]:
    parts = ", ".join(difference["field"] for difference in found["differences"])
    state = "quarantined" if found["is_quarantined"] else "in use"
    by = found["approved_by"] or "(as it first came)"
    return str(found["id"]), found["server"] or "", found["name"], parts, state, by
