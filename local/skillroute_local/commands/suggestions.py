"""`skillroute suggestions`: what classifiers suggest and people decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from skillroute_local.commands import completion
from skillroute_local.commands.list_ import rows_of, rows_of_pages
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.several import for_each, show_results
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.suggestions_review import decide, review, show_decided
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

_COLUMNS = (
    Column("id"),
    Column("kind"),
    Column("name"),
    Column("tool"),
    Column("description", sentences=True),
)
_GROUP_COLUMNS = (*map(Column, ("count", "kind", "name", "skill")), Column("tools", sentences=True))

app = typer.Typer(
    help="Skills and descriptions that classifiers suggest, for people to decide on.\n\n"
    "A tool that fits no skill becomes a suggestion. Until it is decided, it is found without a skill. Many have "
    "the same name: `list --grouped` shows each once, and --group decides on all of one.",
    no_args_is_help=True,
)


class Status(StrEnum):
    """The outcome of a suggestion."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    MERGED = "merged"


Ids = Annotated[
    list[int] | None,
    typer.Argument(metavar="[ID]...", help="As `list` shows them.", autocompletion=completion.suggestion_ids, min=1),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="Instead of ids: all open suggestions of a name. May be repeated."),
]
At = tuple[str | None, str | None, str | None]
"""The URL, token and region of a command."""


@app.command("list")
def list_(
    status: Annotated[Status, typer.Option(help="What became of them.")] = Status.PENDING,
    grouped: Annotated[
        bool, typer.Option("--grouped", help="Each name once, the most frequent first, with how many have it.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="Those of a name.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 100,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List suggestions, those first that wait longest."""
    if grouped and name is not None:
        raise Misused("--grouped lists names, and --name the suggestions of one: leave one of them out")
    where = {"status": status.value} | ({} if name is None else {"name": name})
    most = None if all_ else limit
    with client_for(url, token, sign_region) as client:
        if grouped:
            rows, total = rows_of_pages(
                lambda limit, offset: client.suggestion_groups(status.value, limit=limit, offset=offset), most
            )
        else:
            rows, total = rows_of(client, "suggestions", where, most)
    if as_json:
        print_json(rows)
    elif rows:
        show_table(_GROUP_COLUMNS if grouped else _COLUMNS, map(_group_cells if grouped else _cells, rows))
    else:
        print_line(f"no suggestion {'of this name ' if name else ''}is {status.value}")
    if len(rows) < total:
        note(f"{len(rows)} of {total}; --all shows the others too")


@app.command()
def approve(
    ids: Ids = None,
    group: Groups = None,
    id_: Annotated[str | None, typer.Option("--id", help="Of the skill, instead of what its name gives.")] = None,
    name: Annotated[str | None, typer.Option(help="Of the skill, instead of the suggested one.")] = None,
    description: Annotated[str | None, typer.Option(help="Of the skill, instead of the suggested one.")] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Create the suggested skill and give it its tool, or put a suggested description in place.

    Of a group the skill is worded as the oldest suggestion, and has all their tools at once.
    """
    edits = {"id": id_, "name": name, "description": description}
    body = {field: value for field, value in edits.items() if value is not None}
    decision = _Decision("approve", {"skill": body} if body else {}, lambda of, one: of.approve(one, body or None))
    _decide(ids, group, decision, (url, token, sign_region), as_json=as_json)


@app.command()
def reject(
    ids: Ids = None,
    group: Groups = None,
    reason: Annotated[str | None, typer.Option(help="Why, for those who look at it later.")] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Discard suggestions; their tools stay without a skill."""
    decision = _Decision("reject", {"reason": reason} if reason else {}, lambda of, one: of.reject(one, reason))
    _decide(ids, group, decision, (url, token, sign_region), as_json=as_json)


@app.command()
def merge(
    into: Annotated[
        str, typer.Option(help="The skill that is there for their tools.", autocompletion=completion.skill_ids)
    ],
    ids: Ids = None,
    group: Groups = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Give the tools of suggestions to a skill that is there."""
    decision = _Decision("merge", {"skill_id": into}, lambda of, one: of.merge(one, into))
    _decide(ids, group, decision, (url, token, sign_region), as_json=as_json)


app.command()(review)


@dataclass(frozen=True, slots=True)
class _Decision:
    """A decision: as the API takes it for a group, and as it is made of one suggestion by the client package."""

    action: str
    fields: dict[str, Any]
    of_one: Callable[[Any, int], BaseModel]


def _decide(ids: list[int] | None, groups: list[str] | None, decision: _Decision, at: At, *, as_json: bool) -> None:
    if bool(ids) == bool(groups):
        raise Misused("say on which suggestions to decide: give their ids, or names with --group")
    with client_for(*at) as client:
        if groups:
            decisions = [{"action": decision.action, "name": name} | decision.fields for name in groups]
            show_decided(decide(client, decisions), as_json=as_json)
            return

        def decide_one(id_: str) -> dict[str, Any]:
            answer = client.decide(int(id_), decision.of_one)
            # Of a rejection the answer is the suggestion itself.
            suggestion = answer.get("suggestion", answer)
            return {
                "id": suggestion["id"],
                "name": suggestion["suggested_name"],
                "status": suggestion["status"],
                "skill_id": suggestion["resolved_skill_id"],
                "also_resolved": answer.get("also_resolved", 0),
            }

        results = for_each([str(id_) for id_ in ids or ()], decide_one)
    show_results(results, _described, as_json=as_json)


def _described(done: dict[str, Any]) -> str:
    skill = f": skill {done['skill_id']}" if done["skill_id"] else ""
    others = f", and {counted(done['also_resolved'], 'other')} of the name" if done["also_resolved"] else ""
    return f"{done['id']} {done['name']} {done['status']}{skill}{others}"


def _cells(row: dict[str, Any]) -> list[str]:
    tool = row["source_tool_name"] or row["target_skill_id"] or ""
    return [str(row["id"]), row["kind"].replace("_", " "), row["suggested_name"], tool, row["suggested_description"]]


def _group_cells(row: dict[str, Any]) -> list[str]:
    skill = f"{row['skill_id']} (exists)" if row["skill_exists"] else row["skill_id"]
    tools = [example["source_tool_name"] for example in row["examples"] if example["source_tool_name"]]
    more = ", ..." if row["count"] > len(tools) else ""
    return [str(row["count"]), row["kind"].replace("_", " "), row["name"], skill, ", ".join(tools) + more * bool(tools)]
