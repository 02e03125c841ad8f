"""`skillroute suggestions`: what classifiers suggest and people decide."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from skillroute_local.commands import completion
from skillroute_local.commands.list_ import rows_of
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.several import for_each, show_results
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table

_COLUMNS = (
    Column("id"),
    Column("kind"),
    Column("name"),
    Column("tool"),
    Column("description", sentences=True),
)

app = typer.Typer(
    help="Skills and descriptions that classifiers suggest, for people to decide on.\n\n"
    "A tool that fits no skill becomes a suggestion. Until somebody decides, it is found without a skill.",
    no_args_is_help=True,
)


class Status(StrEnum):
    """What became of a suggestion."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    MERGED = "merged"


Ids = Annotated[
    list[int],
    typer.Argument(metavar="ID...", help="As `list` shows them.", autocompletion=completion.suggestion_ids, min=1),
]


@app.command("list")
def list_(
    status: Annotated[Status, typer.Option(help="What became of them.")] = Status.PENDING,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 100,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List suggestions, those first that wait longest."""
    with client_for(url, token, sign_region) as client:
        rows, total = rows_of(client, "suggestions", {"status": status.value}, None if all_ else limit)
    if as_json:
        print_json(rows)
    elif rows:
        show_table(_COLUMNS, [_cells(row) for row in rows])
    else:
        print_line(f"no suggestion is {status.value}")
    if len(rows) < total:
        note(f"{len(rows)} of {total}; --all shows the others too")


@app.command()
def approve(
    ids: Ids,
    id_: Annotated[str | None, typer.Option("--id", help="Of the skill, instead of what its name gives.")] = None,
    name: Annotated[str | None, typer.Option(help="Of the skill, instead of the suggested one.")] = None,
    description: Annotated[str | None, typer.Option(help="Of the skill, instead of the suggested one.")] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Create the suggested skill and give it its tool, or put a suggested description in place."""
    edits = {"id": id_, "name": name, "description": description}
    body = {field: value for field, value in edits.items() if value is not None}
    _decide(ids, lambda made, one: made.approve(one, body or None), (url, token, sign_region), as_json=as_json)


@app.command()
def reject(
    ids: Ids,
    reason: Annotated[str | None, typer.Option(help="Why, for those who look at it later.")] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Discard suggestions; their tools stay without a skill."""
    _decide(ids, lambda made, one: made.reject(one, reason), (url, token, sign_region), as_json=as_json)


@app.command()
def merge(
    ids: Ids,
    into: Annotated[
        str, typer.Option(help="The skill that is there for their tools.", autocompletion=completion.skill_ids)
    ],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Give the tools of suggestions to a skill that is there."""
    _decide(ids, lambda made, one: made.merge(one, into), (url, token, sign_region), as_json=as_json)


def _decide(
    ids: list[int],
    decision: Callable[[Any, int], BaseModel],
    at: tuple[str | None, str | None, str | None],
    *,
    as_json: bool,
) -> None:
    with client_for(*at) as client:

        def decide(id_: str) -> dict[str, Any]:
            answer = client.decide(int(id_), decision)
            # Of a rejection the answer is the suggestion itself.
            suggestion = answer.get("suggestion", answer)
            return {
                "id": suggestion["id"],
                "name": suggestion["suggested_name"],
                "status": suggestion["status"],
                "skill_id": suggestion["resolved_skill_id"],
                "also_resolved": answer.get("also_resolved", 0),
            }

        results = for_each([str(id_) for id_ in ids], decide)
    show_results(results, _described, as_json=as_json)


def _described(done: dict[str, Any]) -> str:
    skill = f": skill {done['skill_id']}" if done["skill_id"] else ""
    others = f", and {counted(done['also_resolved'], 'other')} of the name" if done["also_resolved"] else ""
    return f"{done['id']} {done['name']} {done['status']}{skill}{others}"


def _cells(row: dict[str, Any]) -> list[str]:
    tool = row["source_tool_name"] or row["target_skill_id"] or ""
    return [str(row["id"]), row["kind"].replace("_", " "), row["suggested_name"], tool, row["suggested_description"]]
