"""`skillroute doctor`: what is wrong with a catalogue, and what would help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.shared import (
    AsJson,
    SignRegion,
    Token,
    Url,
    client_for,
    err,
    print_json,
    progress_bar,
)
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client
    from skillroute_local.doctor import Catalogue, Code, Finding
    from skillroute_local.doctor.examination import Searched

_SHOWN = 20
_ANY = "any"
_COLUMNS = (Column("hurts"), Column("code"), Column("of"), Column("what is wrong", sentences=True))
_COUNTS = (Column("findings"), Column("code"), Column("what helps", sentences=True))


def doctor(
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE|any", help="Exit with 1 where there is a finding of this code. May be repeated."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Only findings about tools of this server, and searches for them alone.")
    ] = None,
    no_search: Annotated[
        bool, typer.Option("--no-search", help="Do not search for each tool by its own description.")
    ] = False,
    worst: Annotated[int, typer.Option(help="How many findings to show, those that hurt most first.", min=0)] = _SHOWN,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Find what makes tools hard to find: bad names and descriptions, duplicates, gaps in skills.

    Every tool is searched for by its own description; one that is not among the first five is not findable. Nothing
    is changed. The codes, their weights and the JSON are in docs/doctor.md. Exits with 4 where searches failed, so that
    a part was not checked.
    """
    from skillroute_local.doctor import diagnose, report_of  # noqa: PLC0415 (the engine that counts words)

    wanted = _codes(fail_on or ())
    with client_for(url, token, sign_region, patient=True) as client:
        catalogue, searched = _examined(client, server, search=not no_search)
    findings = [found for found in diagnose(catalogue) if _is_about(found, server)]
    if as_json:
        print_json(report_of(catalogue, findings, searched.not_asked))
    else:
        _show(catalogue, findings, searched, worst)
    failed = sorted({found.code.value for found in findings}.intersection(wanted))
    if failed:
        note(f"failed: there are findings of {', '.join(failed)}")
        raise typer.Exit(ExitCode.REFUSED)
    if searched.not_asked:
        raise typer.Exit(ExitCode.PARTIAL)


def _codes(names: Sequence[str]) -> set[str]:
    """Return the codes that fail the command. Raises `Misused` for an unknown one."""
    from skillroute_local.doctor import Code  # noqa: PLC0415

    known = {code.value for code in Code}
    if unknown := [name for name in names if name not in known | {_ANY}]:
        raise Misused(f"--fail-on {unknown[0]}: give {_ANY}, or one of {', '.join(sorted(known))}")
    return known if _ANY in names else set(names)


def _examined(client: Client, server: str | None, *, search: bool) -> tuple[Catalogue, Searched]:
    from skillroute_local.doctor.examination import Searched  # noqa: PLC0415
    from skillroute_local.doctor_reading import read_catalogue, search_for  # noqa: PLC0415

    with err.status("reading the catalogue"):
        catalogue = read_catalogue(client)
    tools = [tool for tool in catalogue.tools if server is None or tool.server == server]
    if server is not None and not tools:
        raise Misused(f"--server {server}: no active tool is of it; `skillroute list servers` names them")
    if not search:
        return catalogue, Searched()
    with progress_bar("{task.completed}/{task.total}") as progress:
        task = progress.add_task("searching", total=len(tools))
        searched = search_for(client, tools, lambda done: progress.advance(task, done))
    return replace(catalogue, asked=searched.asked), searched


def _is_about(found: Finding, server: str | None) -> bool:
    return server is None or any(tool.server == server for tool in found.tools)


def _show(catalogue: Catalogue, findings: Sequence[Finding], searched: Searched, worst: int) -> None:
    from skillroute_local.doctor.report import counts_of  # noqa: PLC0415

    helps: dict[Code, Counter[str]] = defaultdict(Counter)
    for found in findings:
        helps[found.code][found.help] += 1
    counts = [
        (str(number), code.value, helps[code].most_common(1)[0][0])
        for code, number in counts_of(findings).items()
        if number
    ]
    show_table(_COUNTS, counts)
    if findings[:worst]:
        print_line("")
    show_table(_COLUMNS, [_row(found) for found in findings[:worst]])
    things = ", ".join(
        [
            counted(len(catalogue.tools), "tool"),
            counted(len(catalogue.skills), "skill"),
            counted(len(searched.asked), "search", "searches"),
            *([counted(len(catalogue.agent_skills), "Agent Skill")] if catalogue.agent_skills else []),
        ]
    )
    print_line(f"{things}: {counted(len(findings), 'finding') if findings else 'nothing found'}")
    if len(findings) > worst:
        note(f"{worst} of {len(findings)}; --worst {len(findings)} shows the others too, --json names all tools")
    if searched.not_asked:
        reason = next(iter(searched.not_asked.values()))
        note(f"{counted(len(searched.not_asked), 'tool')} could not be searched for, such as: {reason}")


def _row(found: Finding) -> tuple[str, str, str, str]:
    names = list(found.skills or found.agent_skills) or [tool.title for tool in found.tools]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return str(found.weight), found.code.value, f"{names[0]}{more}", found.reason
