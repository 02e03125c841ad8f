"""`skillroute requests`: what a tool is asked for, of which its vector is made too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from skillroute_local.commands import completion
from skillroute_local.commands.get import ByName
from skillroute_local.commands.kinds import find, kind_of, offering_name
from skillroute_local.commands.output import counted, print_line
from skillroute_local.commands.requests_write import write
from skillroute_local.commands.shared import QUEUES, AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table

_COLUMNS = (Column("source"), Column("text", sentences=True))
_TOOL = kind_of("tool")

app = typer.Typer(
    help="Requests that a tool serves, up to eight, in the words of a user who needs it.\n\n"
    "The tool is found by them, too: their mean is part of its vector. `import` writes them with its tools.",
    no_args_is_help=True,
)

Tool = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Of the tool: SERVER/NAME, or its id.", autocompletion=completion.tools),
]
At = tuple[str | None, str | None, str | None]
"""The URL, token and region of a command."""


@app.command("list")
def list_(
    name: Tool,
    by_name: ByName = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List the requests of a tool, and who wrote each."""
    with client_for(url, token, sign_region) as client:
        thing = find(client, _TOOL, name, by_name=by_name)
        with offering_name(client, _TOOL, thing.name):
            requests = client.get(_TOOL.resource, thing.id).value.get("requests") or []
    if as_json:
        print_json(requests)
    elif requests:
        show_table(_COLUMNS, ([request["source"], request["text"]] for request in requests))
    else:
        print_line(f"{thing.name} has no requests: `skillroute requests set {thing.name} TEXT...` writes some")


@app.command("set")
def set_(
    name: Tool,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The requests, 300 characters each at most.")],
    by_name: ByName = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Write the requests of a tool instead of those that it has."""
    _write(name, texts, (url, token, sign_region), by_name=by_name, as_json=as_json)


@app.command()
def clear(
    name: Tool,
    by_name: ByName = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Take the requests of a tool away: it is found by its own texts again."""
    _write(name, (), (url, token, sign_region), by_name=by_name, as_json=as_json)


app.command(epilog=QUEUES)(write)


def _write(name: str, texts: Sequence[str], at: At, *, by_name: bool, as_json: bool) -> None:
    with client_for(*at) as client:
        thing = find(client, _TOOL, name, by_name=by_name)
        with offering_name(client, _TOOL, thing.name):
            stored = client.set_requests(int(thing.id), texts)["requests"] or []
    if as_json:
        print_json(stored)
    else:
        print_line(f"{thing.name} has {counted(len(stored), 'request')}")
