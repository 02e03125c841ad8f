"""`skillroute import`: tools, servers, agents and agent mail, from files and folders and from MCP servers that run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from skillroute_local.commands import import_options as options
from skillroute_local.commands.exit_codes import end
from skillroute_local.commands.import_shown import Changes, as_object, bars, show_report, stored
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, err, print_json
from skillroute_local.errors import LocalError, Misused

if TYPE_CHECKING:
    from skillroute_local.client import Written
    from skillroute_local.importing.run import Import
    from skillroute_local.importing.wanted import Wanted

Named = dict["Written", Sequence[Path]]
"""The files of each kind of things."""


def import_(
    context: typer.Context,
    files: options.Sources = None,
    format_: options.Format = None,
    mcp: options.Mcp = None,
    git: options.Git = None,
    server: options.OfServer = None,
    register: options.Register = False,
    with_address: options.WithAddress = False,
    timeout: options.Timeout = 60.0,
    dry_run: options.DryRun = False,
    prune: options.Prune = None,
    prune_up_to: options.PruneUpTo = 10.0,
    prune_keep_days: options.PruneKeepDays = 7.0,
    approve: options.Approve = False,
    watch: options.Watched = False,
    servers: options.Servers = None,
    agents: options.Agents = None,
    projects: options.Projects = None,
    products: options.Products = None,
    mail_agents: options.MailAgents = None,
    messages: options.Messages = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Write tools, prompts, resources, servers and agents into the catalogue, from where they live.

    What is there already and unchanged is left alone. What is refused is named with its place and the reason, the rest
    goes in, and the exit status is 4; it is 1 where nothing went in. What is left out of a thing counts the same.

    --servers and --agents write into the registry. A server that comes with tools has these alone afterwards; one that
    comes without keeps those that are in the catalogue. --projects, --products, --mail-agents and --messages write
    agent mail. Tools come first and messages last, whatever the order here.
    """
    named: Named = {
        "items": _sources(context, files or (), watch=watch),
        "servers": servers or (),
        "agents": agents or (),
        "projects": projects or (),
        "products": products or (),
        "mail_agents": mail_agents or (),
        "messages": messages or (),
    }
    _require_files(named, mcp, git)
    _require_one_way(dry_run=dry_run, watch=watch, as_json=as_json)
    with client_for(url, token, sign_region, patient=True) as client:
        from skillroute_local.importing.formats import require_format  # noqa: PLC0415 (other commands need none)
        from skillroute_local.importing.model import Choices  # noqa: PLC0415
        from skillroute_local.importing.pruning import Pruning  # noqa: PLC0415
        from skillroute_local.importing.run import Import  # noqa: PLC0415
        from skillroute_local.importing.wanted import wanted  # noqa: PLC0415

        require_format(format_)
        choices = Choices(server, timeout, register or with_address, with_address)
        sources = wanted(named, mcp, choices, format_, watch=watch, git=git or ())
        pruning = Pruning(prune_up_to, prune_keep_days, prune is options.PruneWhat.ALL) if prune else None
        client.approves = approve
        importing = Import(sources, client, pruning=pruning)
        if watch:
            _watch(importing, sources)
        elif dry_run:
            _compare(importing, as_json=as_json)
        else:
            _write(importing, as_json=as_json)


def _sources(context: typer.Context, files: Sequence[Path], *, watch: bool) -> Sequence[Path]:
    """Return the files, with standard input as one of them until the command ends. Raises `Misused`."""
    from skillroute_local.importing.standard_input import STANDARD_INPUT, with_standard_input  # noqa: PLC0415

    if watch and STANDARD_INPUT in files:
        raise Misused("--watch looks at files again, and standard input is read once: leave out --watch or -")
    return context.with_resource(with_standard_input(files))


def _require_one_way(*, dry_run: bool, watch: bool, as_json: bool) -> None:
    """Raise `Misused` where options contradict each other."""
    if dry_run and watch:
        raise Misused("--dry-run shows one import, and --watch repeats it: leave one of them out")
    if watch and as_json:
        raise Misused("--json prints the report of one import, and --watch repeats it: leave one of them out")


def _write(importing: Import, *, as_json: bool) -> None:
    """Import, show what came of it, and end the command."""
    try:
        with bars() as make_bar:
            report = importing.write(make_bar)
    except LocalError:
        if importing.report.counts and not as_json:
            show_report(importing.report, dry_run=False)
            err.print("it ended early: import the same again, and what is there is left alone", highlight=False)
        raise
    if as_json:
        print_json(as_object(report))
    else:
        show_report(report, dry_run=False)
    end(done=stored(report), failed=len(report.problems) + len(report.left_out))


def _compare(importing: Import, *, as_json: bool) -> None:
    """Show what an import would change, and end the command."""
    changes = Changes(as_json=as_json)
    with bars() as make_bar:
        report = importing.compare(make_bar, changes)
    if as_json:
        print_json(as_object(report) | {"changes": changes.shown})
    else:
        show_report(report, dry_run=True)
    end(done=stored(report), failed=len(report.problems) + len(report.left_out))


def _require_files(named: Named, mcp: str | None, git: Sequence[str] | None) -> None:
    """Raise `Misused` where nothing is named, or something that is not there."""
    every = [file for paths in named.values() for file in paths]
    if not every and mcp is None and not git:
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
