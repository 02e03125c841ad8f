"""The command line: `skillroute --help`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from skillroute.errors import SkillrouteError

from skillroute_local.commands import dlq, sam_env, skills
from skillroute_local.commands.import_ import import_
from skillroute_local.commands.search import search
from skillroute_local.commands.shared import DATABASE, err, out, parts_here, progress_bar, run_here
from skillroute_local.commands.status import status
from skillroute_local.commands.token import token as make_token
from skillroute_local.commands.verify import verify
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
app.command()(search)
app.command("import")(import_)
app.command()(status)
app.command("token")(make_token)
app.command()(verify)
app.command("sam-env", context_settings=sam_env.CONTEXT)(sam_env.sam_env)


@app.command()
def up(
    port: Annotated[int, typer.Option(help="Port of the web server; 0 takes a free one.", envvar="PORT")] = 3000,
    examples: Annotated[bool, typer.Option(help="Load the examples on first start.")] = True,
    pump: Annotated[bool, typer.Option(help="Classify tools in the background; without it they wait.")] = True,
) -> None:
    """Start everything on this machine; its state lives in SKILLROUTE_HOME, .skillroute by default."""
    from skillroute_local.up import up as start  # noqa: PLC0415 (other commands need none of it)

    start(Home.from_environment(), port, examples=examples, pump=pump, console=out)


@app.command(epilog=DATABASE)
def reindex() -> None:
    """Embed what is not of the configured model, and make every index rebuild. An interrupted run can be repeated."""
    with parts_here(queues=False) as parts:
        remaining = parts.reindex.remaining()
        with progress_bar("{task.completed}/{task.total}") as progress:
            task = progress.add_task("embedding", total=remaining)
            report = parts.reindex(lambda rows: progress.advance(task, rows))
    embedded = (
        f"{report.items} items, {report.skills} skills, {report.entities} servers and agents, "
        f"and {report.mail} documents of mail"
    )
    out.print(f"embedded {embedded}; every index rebuilds now", highlight=False, soft_wrap=True)


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
