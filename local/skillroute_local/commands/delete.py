"""`skillroute delete`: things of a kind, by id or name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands import completion
from skillroute_local.commands.get import ByName, KindArgument
from skillroute_local.commands.kinds import Kind, Thing, find, kind_of, offering_name
from skillroute_local.commands.several import (
    for_each,
    listed_names,
    require_agreement,
    require_answer,
    show_results,
)
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client


def delete(
    kind: KindArgument,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids or names, as of `get`.", autocompletion=completion.ids)
    ],
    name: ByName = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Tools need their SERVER/NAME then.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Delete things of a kind: a server with its tools, a skill without them.

    The question names each thing whole, a tool with its server. Each is deleted on its own; what is refused is named
    with the reason, and the exit status is 4 then.
    """
    chosen = kind_of(kind)
    require_answer(yes=yes, as_json=as_json)
    with client_for(url, token, sign_region) as client:
        things: dict[str, Thing] = {}

        def look_up(text: str) -> dict[str, Any]:
            things[text] = _named(client, chosen, text, by_name=name, asked=not yes)
            return {}

        def remove(text: str) -> dict[str, Any]:
            thing = things[text]
            with offering_name(client, chosen, thing.name):
                client.delete(chosen.resource, thing.id)
            return {"id": thing.id}

        found = for_each(ids, look_up)
        if things:
            require_agreement(f"delete {chosen.name} {listed_names(_shown(things))}?", yes=yes, as_json=as_json)
        results = for_each(list(things), remove, alone=len(ids) == 1)
    results.failed[:0] = found.failed
    show_results(results, lambda done: f"deleted {chosen.name} {done['id']}", as_json=as_json)


def _named(client: Client, kind: Kind, text: str, *, by_name: bool, asked: bool) -> Thing:
    """Return the thing of a name. Where nobody is asked, the name must be whole: nobody would see of which server."""
    thing = find(client, kind, text, by_name=by_name)
    if not asked and thing.id != text and not kind.is_whole(text):
        raise Misused(f"{text} is {thing.name}, and --yes does not ask: write {thing.name}, or the id {thing.id}")
    return thing


def _shown(things: dict[str, Thing]) -> list[str]:
    return [thing.name for thing in things.values()]
