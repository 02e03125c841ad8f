"""`skillroute access`: rules of who finds and calls what, and their answer about a caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from skillroute_local.commands.learn_answers import plain
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

app = typer.Typer(
    help="Say who finds and calls which servers, tools and skills. It needs scope admin.", no_args_is_help=True
)

_FIELDS = ("roles", "groups", "servers", "tools", "skills", "hints")

Role = Annotated[list[str] | None, typer.Option("--role", help="Callers of this role; several are allowed.")]
Group = Annotated[list[str] | None, typer.Option("--group", help="Callers of this group.")]
Server = Annotated[list[str] | None, typer.Option("--server", help="Tools of this server.")]
Tool = Annotated[list[str] | None, typer.Option("--tool", help="A tool: server/name, or its name alone.")]
Skill = Annotated[list[str] | None, typer.Option("--skill", help="Tools of this skill.")]
Hint = Annotated[list[str] | None, typer.Option("--hint", help="read_only, not_read_only or destructive.")]


@app.command("list")
def list_rules(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """List the rules that apply: the organisation's, and the deployment's."""
    with client_for(url, token, sign_region) as client:
        rules = [plain(rule) for rule in client.on("access", lambda access: access.rules())]
    if as_json:
        print_json(rules)
        return
    columns = [*map(Column, ("id", "effect", "of")), Column("callers", sentences=True), Column("what", sentences=True)]
    show_table([*columns, Column("name", sentences=True)], map(_cells, rules))


@app.command()
def add(
    effect: Annotated[str, typer.Argument(metavar="allow|deny")],
    name: Annotated[str, typer.Argument(help="What people call the rule.")],
    role: Role = None,
    group: Group = None,
    server: Server = None,
    tool: Tool = None,
    skill: Skill = None,
    hint: Hint = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Add a rule. Options of one kind are alternatives; those of several kinds must all fit."""
    if effect not in {"allow", "deny"}:
        raise Misused(f"{effect!r} is no effect of a rule: write allow or deny")
    values = zip(_FIELDS, (role, group, server, tool, skill, hint), strict=True)
    rule = {"name": name, "effect": effect, **{field: given for field, given in values if given}}
    with client_for(url, token, sign_region) as client:
        written = plain(client.on("access", lambda access: access.create(rule)))
    for warning in written["warnings"]:
        note(warning)
    if as_json:
        print_json(written)
    else:
        print_line(f"rule {written['rule']['id']} is in force within two seconds")


@app.command()
def delete(
    rule: Annotated[int, typer.Argument(help="The id of the rule.", min=1)],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Delete a rule."""
    with client_for(url, token, sign_region) as client:
        client.on("access", lambda access: access.delete(rule))
    if as_json:
        print_json({"deleted": rule})
    else:
        print_line(f"rule {rule} is deleted")


@app.command()
def explain(
    as_: Annotated[str, typer.Option("--as", help="The caller: role:analyst,group:eng,scope:search.")],
    tool: Annotated[str | None, typer.Option(help="A tool: its id, server/name, or name.")] = None,
    server: Annotated[str | None, typer.Option(help="A server.")] = None,
    skill: Annotated[str | None, typer.Option(help="A skill.")] = None,
    org: Annotated[str | None, typer.Option(help="Its organisation; default: that of the token.")] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Show whether a caller finds and calls a tool, and by which rule; without one, what it finds of each server."""
    named = {"tool": tool, "server": server, "skill": skill, "org": org}
    asked = {**caller_of(as_), **{name: value for name, value in named.items() if value is not None}}
    with client_for(url, token, sign_region) as client:
        found = plain(client.on("access", lambda access: access.explain(asked)))
    if as_json:
        print_json(found)
        return
    print_line(found["sentence"])
    if found["allowed"] is None:
        show_table(
            [Column("server"), Column("found"), Column("of")],
            ((each["server"] or "(none)", str(each["seen"]), str(each["items"])) for each in found["servers"]),
        )
    for rule in found["matched"]:
        print_line(f"  rule {rule['id']} {rule['effect']}: {rule['name']}")


def caller_of(text: str) -> dict[str, list[str]]:
    """Read a caller as people write it. Raises `Misused`.

    Examples
    --------
    >>> caller_of("role:analyst,group:eng")
    {'roles': ['analyst'], 'groups': ['eng']}
    """
    found: dict[str, list[str]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        kind, colon, value = part.partition(":")
        if kind not in {"role", "group", "scope"} or not colon or not value:
            raise Misused(f"--as: {part!r} is no part of a caller: write role:NAME, group:NAME or scope:NAME")
        found.setdefault(f"{kind}s", []).append(value)
    return found


def _cells(rule: dict[str, Any]) -> Sequence[str]:
    of = rule["org_id"] or "all"
    return str(rule["id"]), rule["effect"], of, _words(rule, _FIELDS[:2]), _words(rule, _FIELDS[2:]), rule["name"]


def _words(rule: dict[str, Any], fields: Sequence[str]) -> str:
    return "; ".join(f"{field} {', '.join(rule[field])}" for field in fields if rule[field]) or "any"
