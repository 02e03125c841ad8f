"""The command line: `skillroute --help`."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.markup import escape
from skillroute.core.documents.model import COUNTED_AS
from skillroute.core.errors import SkillrouteError

from skillroute_local.commands import dlq, sam_env, skills
from skillroute_local.commands.connect import connect
from skillroute_local.commands.eval_ import eval_
from skillroute_local.commands.export import EXAMPLES as EXPORT_EXAMPLES
from skillroute_local.commands.export import export
from skillroute_local.commands.import_ import EXAMPLES, import_
from skillroute_local.commands.search import search
from skillroute_local.commands.shared import DATABASE, err, listed, out, parts_here, progress_bar, run_here
from skillroute_local.commands.status import status
from skillroute_local.commands.token import token as make_token
from skillroute_local.commands.verify import verify
from skillroute_local.home import Home

# What a URL that is given goes before, and the logins that are made for a deployment.
_OTHER_DATABASES = tuple(f"SKILLROUTE_DATABASE_{name}" for name in ("SECRET_ARN", "OWNER_SECRET_ARN", "USER"))
_LOGINS = tuple(f"SKILLROUTE_DATABASE_{name}" for name in ("READER_SECRET_ARN", "WRITER_SECRET_ARN", "IAM_LOGINS"))

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
app.command()(connect)
app.command("eval", epilog=DATABASE)(eval_)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.command("import", epilog=EXAMPLES)(import_)
app.command()(status)
app.command("token")(make_token)
app.command()(verify)
app.command("sam-env", context_settings=sam_env.CONTEXT)(sam_env.sam_env)


@app.command()
def up(
    port: Annotated[int, typer.Option(help="Port of the web server; 0 takes a free one.", envvar="PORT")] = 3000,
    examples: Annotated[bool, typer.Option(help="Load the examples on first start.")] = True,
    pump: Annotated[bool, typer.Option(help="Classify tools in the background; without it they wait.")] = True,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; beyond loopback anyone who reaches it may ask.", envvar="SKILLROUTE_HOST"
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name by which it may be asked, without a port.", envvar="SKILLROUTE_ALLOWED_HOSTS"),
    ] = None,
) -> None:
    """Start everything on this machine; its state lives in SKILLROUTE_HOME, .skillroute by default."""
    from skillroute_local.up import Doors, up as start  # noqa: PLC0415, I001 (other commands need none of it)

    doors = Doors(port, host, tuple(allow_host or ()))
    start(Home.from_environment(), doors, examples=examples, pump=pump, console=out)


@app.command(epilog=DATABASE)
def reindex() -> None:
    """Embed what is not of the configured model, and make every index rebuild. An interrupted run can be repeated."""
    with parts_here(queues=False) as parts:
        remaining = parts.reindex.remaining()
        with progress_bar("{task.completed}/{task.total}") as progress:
            task = progress.add_task("embedding", total=remaining)
            report = parts.reindex(lambda rows: progress.advance(task, rows))
    embedded = listed([f"{report.embedded[collection]} {counted.words}" for collection, counted in COUNTED_AS.items()])
    out.print(f"embedded {embedded}; every index rebuilds now", highlight=False, soft_wrap=True)


@app.command(epilog=DATABASE)
def migrate(
    database_url: Annotated[
        str | None,
        typer.Option(help="postgresql://user:password@host:5432/name, before all that the environment says."),
    ] = None,
) -> None:
    """Bring a database's schema and its roles up to date, as the login that owns them. `up` does this by itself.

    Logins of functions are made from the secrets SKILLROUTE_DATABASE_READER_SECRET_ARN and _WRITER_SECRET_ARN, or for
    tokens of RDS with SKILLROUTE_DATABASE_IAM_LOGINS=true.
    """
    from skillroute.core.postgres.migrate import migrate as apply  # noqa: PLC0415
    from skillroute.core.settings import MigrationSettings  # noqa: PLC0415
    from skillroute.wiring.secrets import make_owner_address, read_logins  # noqa: PLC0415

    run = None if database_url else run_here()
    if url := run.database_url if run else database_url:
        os.environ |= dict.fromkeys(_OTHER_DATABASES, "") | {"SKILLROUTE_DATABASE_URL": url}
    if run:  # the one that runs here has one login for all
        os.environ |= dict.fromkeys(_LOGINS, "")
    settings = MigrationSettings.load()
    address = make_owner_address(settings)()  # a secret is read here, with the whole of its wait
    applied = apply(address, logins=read_logins(settings, address.database))
    out.print("\n".join(f"applied {name}" for name in applied) or "up to date", highlight=False)


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
