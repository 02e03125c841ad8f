"""`skillroute import`: tools, servers, agents and agent mail, from files and folders and from MCP servers that run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillroute_local.commands.exit_codes import end
from skillroute_local.commands.import_shown import Changes, as_object, bars, show_report, stored
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, err, print_json
from skillroute_local.errors import LocalError, Misused

if TYPE_CHECKING:
    from skillroute_local.client import Written
    from skillroute_local.importing.run import Import
    from skillroute_local.importing.wanted import Wanted

EXAMPLES = """\b
Examples:
  skillroute import tools.jsonl                   items, one a line
  skillroute import listed.json --server github   an answer to tools/list
  skillroute import petstore.yaml --dry-run       OpenAPI 3: what would change
  skillroute import ~/.claude/skills              folders with a SKILL.md
  skillroute import servers.json                  a registry's list of servers
  skillroute import .mcp.json --prune             all servers of an mcp.json
  skillroute import backup.ndjson                 what skillroute export wrote; - is stdin
  skillroute import --mcp "uvx mcp-server-time" --server time
  skillroute import --mcp https://example.com/mcp --server docs --watch
"""

_MAIL = {"projects", "products", "mail_agents", "messages"}


def import_(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SOURCES]...",
            help="Files and folders: items as JSON or JSON Lines, a tools/list answer, an OpenAPI 3 document, an "
            "mcp.json, a registry's servers, Agent Skills, an export. The content shows which. - is standard input.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The format of SOURCES, instead of what their content shows: jsonl, json, tools-list, openapi, "
            "agent-skills, mcp-registry, mcp-config, backup.",
        ),
    ] = None,
    mcp: Annotated[
        str | None,
        typer.Option(help="An MCP server: its address, or the command that starts it. Needs --server."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(help="The server that items are of, unless they name one. Of an mcp.json: the one to import."),
    ] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Write MCP servers that are listed into the registry as well.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=1, max=600, help="Seconds that an MCP server has to start, and again to list.")
    ] = 60.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be created, updated and removed; change nothing.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove items of the imported servers that their source no longer has."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Import again whenever a source changes, and MCP servers every minute, until Ctrl-C."
        ),
    ] = False,
    servers: Annotated[
        list[Path] | None,
        typer.Option(help="MCP servers: JSON Lines, a server.json, or what a registry lists. May be repeated."),
    ] = None,
    agents: Annotated[
        list[Path] | None, typer.Option(help="A2A agents: JSON Lines, or an agent card. May be repeated.")
    ] = None,
    projects: Annotated[
        list[Path] | None, typer.Option(help="Projects of agent mail: key, name, description. May be repeated.")
    ] = None,
    products: Annotated[
        list[Path] | None, typer.Option(help="Products: key, name, projects, ... May be repeated.")
    ] = None,
    mail_agents: Annotated[
        list[Path] | None, typer.Option(help="Who writes mail: name, contact, projects, ... May be repeated.")
    ] = None,
    messages: Annotated[
        list[Path] | None, typer.Option(help="Messages: key, project, from, to, subject, body, ... May be repeated.")
    ] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Write tools, prompts, resources, servers and agents into the catalogue, from where they live.

    What is there already and unchanged is left alone. What is refused is named with its place and the reason, the rest
    goes in, and the exit status is 4; it is 1 where nothing went in.

    --servers and --agents write into the registry. A server that comes with tools has these alone afterwards; one that
    comes without keeps those that are in the catalogue. --projects, --products, --mail-agents and --messages write
    agent mail. Tools come first and messages last, whatever the order here.
    """
    from skillroute_local.importing.standard_input import STANDARD_INPUT, with_standard_input  # noqa: PLC0415

    if watch and STANDARD_INPUT in (files or ()):
        raise Misused("--watch looks at files again, and standard input is read once: leave out --watch or -")
    named: dict[Written, Sequence[Path]] = {
        "items": context.with_resource(with_standard_input(files or ())),
        "servers": servers or (),
        "agents": agents or (),
        "projects": projects or (),
        "products": products or (),
        "mail_agents": mail_agents or (),
        "messages": messages or (),
    }
    _require_files(named, mcp)
    if dry_run and (mail := [name for name in named if name in _MAIL and named[name]]):
        raise Misused(f"--dry-run is for tools, servers and agents: leave out --{mail[0].replace('_', '-')}")
    if dry_run and watch:
        raise Misused("--dry-run shows one import, and --watch repeats it: leave one of them out")
    if watch and as_json:
        raise Misused("--json prints the report of one import, and --watch repeats it: leave one of them out")
    with client_for(url, token, sign_region, patient=True) as client:
        from skillroute_local.importing.formats import require_format  # noqa: PLC0415 (other commands need none)
        from skillroute_local.importing.model import Choices  # noqa: PLC0415
        from skillroute_local.importing.run import Import  # noqa: PLC0415
        from skillroute_local.importing.wanted import wanted  # noqa: PLC0415

        require_format(format_)
        sources = wanted(named, mcp, Choices(server, timeout, register), format_, watch=watch)
        importing = Import(sources, client, prune=prune)
        changes = Changes(as_json=as_json)
        if watch:
            _watch(importing, sources)
            return
        try:
            with bars() as make_bar:
                report = importing.compare(make_bar, changes) if dry_run else importing.write(make_bar)
        except LocalError:
            if importing.report.counts and not as_json:
                show_report(importing.report, dry_run=False)
                err.print("it ended early: import the same again, and what is there is left alone", highlight=False)
            raise
    if as_json:
        print_json(as_object(report) | ({"changes": changes.shown} if dry_run else {}))
    else:
        show_report(report, dry_run=dry_run)
    end(done=stored(report), failed=len(report.problems))


def _require_files(named: dict[Written, Sequence[Path]], mcp: str | None) -> None:
    every = [file for paths in named.values() for file in paths]
    if not every and mcp is None:
        raise Misused("name a file of tools, or one with --servers, --agents, --messages or another option")
    folders_too = set(named["items"])
    if missing := [str(file) for file in every if not file.is_file() and not (file in folders_too and file.is_dir())]:
        raise Misused(f"no such file: {', '.join(missing)}")


def _watch(importing: Import, sources: Sequence[Wanted]) -> None:
    from skillroute_local.importing.watch import Watch  # noqa: PLC0415

    watch = Watch([source.watched for source in sources])
    err.print("watching; Ctrl-C ends it", highlight=False)
    try:
        watch.run(lambda places: _show_import(importing, places))
    except KeyboardInterrupt:
        return


def _show_import(importing: Import, places: Sequence[int]) -> bool:
    """Import once, show it, and return whether it ended. One that did not is no reason to stop watching."""
    try:
        with bars() as make_bar:
            report = importing.write(make_bar, places)
    except LocalError as error:
        err.print(f"skillroute: {error}", markup=False, highlight=False, soft_wrap=True)
        return False
    show_report(report, dry_run=False)
    return True
