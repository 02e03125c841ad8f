"""The command line: `skillroute --help`."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from skillroute.errors import SkillrouteError

from skillroute_local.commands import dlq, sam_env, skills
from skillroute_local.commands.shared import (
    DATABASE,
    AsJson,
    SignRegion,
    Token,
    Url,
    client_for,
    err,
    out,
    parts_here,
    print_json,
    run_here,
)
from skillroute_local.commands.status import status
from skillroute_local.commands.token import token as make_token
from skillroute_local.commands.verify import verify
from skillroute_local.errors import LocalError
from skillroute_local.home import Home

if TYPE_CHECKING:
    from skillroute.storage.postgres.address import Address

app = typer.Typer(
    name="skillroute",
    help="Tool search for AI agents: skills first, then the tools of those skills.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(dlq.app, name="dlq")
app.add_typer(skills.app, name="skills")
app.command()(status)
app.command("token")(make_token)
app.command()(verify)
app.command("sam-env", context_settings=sam_env.CONTEXT)(sam_env.sam_env)


class Strategy(StrEnum):
    """How to search."""

    HIERARCHICAL = "hierarchical"
    DIRECT = "direct"
    HYBRID = "hybrid"


class Mode(StrEnum):
    """How to rank."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@app.command()
def up(
    port: Annotated[int, typer.Option(help="Port of the web server; 0 takes a free one.", envvar="PORT")] = 3000,
    examples: Annotated[bool, typer.Option(help="Load the examples on first start.")] = True,
    pump: Annotated[bool, typer.Option(help="Classify tools in the background; without it they wait.")] = True,
) -> None:
    """Start everything on this machine; its state lives in SKILLROUTE_HOME, .skillroute by default."""
    from skillroute_local.up import up as start  # noqa: PLC0415 (other commands need none of it)

    start(Home.from_environment(), port, examples=examples, pump=pump, console=out)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What is needed, in plain words.")],
    limit: Annotated[int, typer.Option(help="How many items at most.", min=1, max=50)] = 5,
    strategy: Annotated[
        Strategy, typer.Option(help="Skills first, all tools, or both merged.")
    ] = Strategy.HIERARCHICAL,
    mode: Annotated[Mode | None, typer.Option(help="By meaning or by words; default: the deployment's.")] = None,
    item_type: Annotated[str | None, typer.Option("--type", help="tool, prompt or resource.")] = None,
    schemas: Annotated[bool, typer.Option(help="Show input schemas.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Find the tools that fit a request."""
    request = {"query": query, "limit": limit, "strategy": strategy.value, "include_schemas": schemas or as_json}
    request |= {"mode": mode.value} if mode else {}
    request |= {"item_type": item_type} if item_type else {}
    with client_for(url, token, sign_region) as client:
        answer = client.search(request)
    if as_json:
        print_json(answer)
        return
    _show_search(answer, schemas=schemas)


def _show_search(answer: dict, *, schemas: bool) -> None:  # type: ignore[type-arg]
    skills = ", ".join(f"{skill['id']} {skill['score']:.2f}" for skill in answer["matched_skills"])
    metadata = answer["metadata"]
    out.print(f"skills: {skills or metadata['fallback_reason'] or 'not asked'}", highlight=False, markup=False)
    table = Table("score", "server", "name", "description", box=None, pad_edge=False)
    for tool in answer["tools"]:
        description = tool["description"].split("\n")[0]
        # What others wrote is no markup of ours, whatever brackets stand in it.
        table.add_row(f"{tool['score']:.3f}", *map(escape, (tool["server"] or "", tool["name"], description[:100])))
        if schemas:
            table.add_row("", "", "", escape(json.dumps(tool["input_schema"], ensure_ascii=False)))
    out.print(table)
    degraded = f", degraded: {', '.join(metadata['degraded'])}" if metadata["degraded"] else ""
    out.print(
        f"{metadata['final_count']} of {metadata['stage2_candidate_count']} in {metadata['total_time_ms']:.1f} ms, "
        f"{metadata['search_mode']}{degraded}",
        highlight=False,
    )


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines: name, description, server, input_schema, ...")],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
) -> None:
    """Write tools from files into the catalogue. What is there already and unchanged is left alone."""
    from skillroute_local.importing import ImportReport, import_file  # noqa: PLC0415

    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise LocalError(f"no such file: {', '.join(missing)}")
    total = ImportReport()
    with client_for(url, token, sign_region) as client, _progress("{task.percentage:>3.0f}%") as progress:
        for file in files:
            task = progress.add_task(file.name, total=file.stat().st_size)
            report = import_file(client, file, lambda size, task=task: progress.advance(task, size))  # type: ignore[misc]
            progress.update(task, completed=file.stat().st_size)
            total.counts.update(report.counts)
            total.problems += report.problems
            total.waiting_for_model |= report.waiting_for_model
    counts = ", ".join(f"{total.counts[status]} {status}" for status in ("created", "updated", "unchanged", "failed"))
    out.print(counts, highlight=False)
    if total.waiting_for_model:
        err.print("[yellow]the embedding model is away: the items are found by their words until it is back[/]")
    for problem in total.problems[:20]:
        err.print(problem, markup=False, highlight=False)
    if len(total.problems) > 20:
        err.print(f"and {len(total.problems) - 20} more")
    if total.problems:
        raise typer.Exit(1)


@app.command(epilog=DATABASE)
def reindex() -> None:
    """Embed what is not of the configured model, and make every index rebuild. An interrupted run can be repeated."""
    with parts_here(queues=False) as parts:
        remaining = parts.reindex.remaining()
        with _progress("{task.completed}/{task.total}") as progress:
            task = progress.add_task("embedding", total=remaining)
            report = parts.reindex(lambda rows: progress.advance(task, rows))
    out.print(f"embedded {report.items} items and {report.skills} skills; every index rebuilds now", highlight=False)


@app.command(epilog=DATABASE)
def migrate(
    database_url: Annotated[
        str | None,
        typer.Option(help="postgresql://user:password@host:5432/name, before all that the environment says."),
    ] = None,
) -> None:
    """Bring a database's schema up to date. `up` does this by itself."""
    from skillroute.storage.postgres.migrate import migrate as apply  # noqa: PLC0415

    applied = apply(database_url or _address())
    out.print("\n".join(f"applied {name}" for name in applied) or "up to date", highlight=False)


def _address() -> str | Address:
    """Return where the database is. A secret is read here, with the whole of its wait."""
    from skillroute.bootstrap.secrets import make_address  # noqa: PLC0415
    from skillroute.settings import DatabaseSettings  # noqa: PLC0415

    run = run_here()
    return run.database_url if run else make_address(DatabaseSettings.load())()


def _progress(figures: str) -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(figures), TimeRemainingColumn())
    return Progress(*columns, console=err)


def main() -> None:
    """Run a command; what goes wrong on purpose is one line, not a traceback."""
    os.environ.setdefault("SKILLROUTE_LOG_LEVEL", "WARNING")
    try:
        app()
    except SkillrouteError as error:
        err.print(f"[red]skillroute:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
