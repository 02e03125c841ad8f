"""`skillroute get`: one thing, whole."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
import yaml

from skillroute_local.commands import completion
from skillroute_local.commands.kinds import KIND_NAMES, find, kind_of, offering_name
from skillroute_local.commands.output import NoSchemas, without_schemas
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, out, print_json

_UNBROKEN = 1_000_000

KindArgument = Annotated[
    str, typer.Argument(metavar="KIND", help=f"One of {KIND_NAMES}.", autocompletion=completion.kinds)
]

ByName = Annotated[
    bool, typer.Option("--name", help="ID is a name, even if it is a number, which is taken for an id otherwise.")
]


def get(
    kind: KindArgument,
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Its id, or its name: SERVER/NAME of a tool, the path of a server or agent, the key of a project, "
            "product or message.",
            autocompletion=completion.ids,
        ),
    ],
    name: ByName = False,
    no_schemas: NoSchemas = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Show one thing whole: as YAML, or as JSON as the API answers it."""
    chosen = kind_of(kind)
    with client_for(url, token, sign_region) as client:
        thing = find(client, chosen, id_, by_name=name)
        with offering_name(client, chosen, thing.name):
            value = client.get(chosen.resource, thing.id).value
    shown = without_schemas(value) if no_schemas else value
    if as_json:
        print_json(shown)
    else:
        sys.stdout.write(as_yaml(shown, out.width if out.is_terminal else _UNBROKEN))


def as_yaml(value: object, width: int) -> str:
    """Return a value of JSON as YAML, its fields in their order; texts go on in the next line at `width` columns."""
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=width)
    return text
