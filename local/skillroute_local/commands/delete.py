"""`skillroute delete`: things of a kind, by id or name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from skillroute_local.commands import completion
from skillroute_local.commands.get import KindArgument
from skillroute_local.commands.kinds import id_of, kind_of
from skillroute_local.commands.several import for_each, listed_names, require_agreement, show_results
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for


def delete(
    kind: KindArgument,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids or names, as of `get`.", autocompletion=completion.ids)
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Delete things of a kind: a server with its tools, a skill without them.

    Each is deleted on its own; what is refused is named with the reason, and the exit status is 4 then.
    """
    chosen = kind_of(kind)
    require_agreement(f"delete {chosen.name} {listed_names(ids)}?", yes=yes, as_json=as_json)
    with client_for(url, token, sign_region) as client:

        def remove(thing: str) -> dict[str, Any]:
            id_ = id_of(client, chosen, thing)
            client.delete(chosen.resource, id_)
            return {"id": id_}

        results = for_each(ids, remove)
    show_results(results, lambda done: f"deleted {chosen.name} {done['id']}", as_json=as_json)
