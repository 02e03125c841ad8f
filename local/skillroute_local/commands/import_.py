"""`skillroute import`: tools, servers, agents and agent mail from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillroute_local.commands.shared import SignRegion, Token, Url, client_for, err, out, progress_bar
from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute_local.client import Written
    from skillroute_local.importing import ImportReport

_STATUSES = ("created", "updated", "unchanged", "failed")
_SHOWN = 20


def import_(
    files: Annotated[
        list[Path] | None, typer.Argument(help="JSON Lines: name, description, server, input_schema, ...")
    ] = None,
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
) -> None:
    """Write tools from files into the catalogue. What is there already and unchanged is left alone.

    --servers and --agents write into the registry. A server that comes with tools has these alone afterwards; one that
    comes without keeps those that are in the catalogue. --projects, --products, --mail-agents and --messages write
    agent mail. Tools come first and messages last, whatever the order here.
    """
    named: dict[Written, Sequence[Path]] = {
        "items": files or (),
        "servers": servers or (),
        "agents": agents or (),
        "projects": projects or (),
        "products": products or (),
        "mail_agents": mail_agents or (),
        "messages": messages or (),
    }
    every = [file for paths in named.values() for file in paths]
    if not every:
        raise LocalError("name a file of tools, or one with --servers, --agents, --messages or another option")
    if missing := [str(file) for file in every if not file.is_file()]:
        raise LocalError(f"no such file: {', '.join(missing)}")
    reports = _import(named, url, token, sign_region)
    for kind, report in reports.items():
        _show_counts(kind, report)
    if any(report.waiting_for_model for report in reports.values()):
        err.print("[yellow]the embedding model is away: what was written is found by its words until it is back[/]")
    _show_lines([line for report in reports.values() for line in report.refused])
    problems = [problem for report in reports.values() for problem in report.problems]
    _show_lines(problems)
    if problems:
        raise typer.Exit(1)


def _show_lines(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        err.print(line, markup=False, highlight=False, soft_wrap=True)
    if len(lines) > _SHOWN:
        err.print(f"and {len(lines) - _SHOWN} more")


def _import(
    named: dict[Written, Sequence[Path]], url: str | None, token: str | None, sign_region: str | None
) -> dict[Written, ImportReport]:
    from skillroute_local.importing import ImportReport, import_file  # noqa: PLC0415

    reports: dict[Written, ImportReport] = {}
    with client_for(url, token, sign_region) as client, progress_bar("{task.percentage:>3.0f}%") as progress:
        for kind, files in named.items():
            for file in files:
                size = file.stat().st_size
                task = progress.add_task(file.name, total=size)
                report = reports.setdefault(kind, ImportReport())
                import_file(client, kind, file, report, lambda done, task=task: progress.advance(task, done))  # type: ignore[misc]
                progress.update(task, completed=size)
    return reports


def _show_counts(kind: Written, report: ImportReport) -> None:
    line = _counted(report.counts, _STATUSES)
    if kind != "items":
        line = f"{kind.replace('_', ' ')}: {line}"
    if report.tools:
        line = f"{line}; their tools: {_counted(report.tools, ('created', 'updated', 'unchanged', 'removed'))}"
        if report.tools["refused"]:
            line = f"{line}; {report.tools['refused']} of them refused by the embedding model"
    out.print(line, highlight=False, soft_wrap=True)


def _counted(counts: Counter[str], names: Sequence[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in names)
