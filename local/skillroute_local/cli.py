"""The command line: `skillroute --help`."""

from __future__ import annotations

from typing import Annotated

import typer

from skillroute_local.commands import access, dlq, identity, learn, requests, sam_env, skills, suggestions, trust
from skillroute_local.commands.command_line import CommandLine
from skillroute_local.commands.connect import connect
from skillroute_local.commands.console import console
from skillroute_local.commands.delete import delete
from skillroute_local.commands.doctor import doctor
from skillroute_local.commands.eval_ import eval_
from skillroute_local.commands.export import EXAMPLES as EXPORT_EXAMPLES
from skillroute_local.commands.export import export
from skillroute_local.commands.get import get
from skillroute_local.commands.import_ import import_
from skillroute_local.commands.import_options import EXAMPLES, ImportCommand
from skillroute_local.commands.list_ import list_
from skillroute_local.commands.log import log
from skillroute_local.commands.migrate import migrate
from skillroute_local.commands.reindex import reindex
from skillroute_local.commands.search import search
from skillroute_local.commands.shared import DATABASE
from skillroute_local.commands.status import status
from skillroute_local.commands.token import token as make_token
from skillroute_local.commands.up import up
from skillroute_local.commands.verify import verify
from skillroute_local.commands.version import show_version
from skillroute_local.errors import Misused
from skillroute_local.logs import keep_back

app = typer.Typer(
    name="skillroute",
    cls=CommandLine,
    help="Tool search for AI agents: skills first, then the tools of those skills.\n\n"
    "Exit status: 0 done; 1 refused, or found wanting; 2 used wrongly; 3 unreachable, try again later; 4 done in part.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(search)
app.command()(get)
app.command("list")(list_)
app.command()(delete)
app.command("import", cls=ImportCommand, epilog=EXAMPLES)(import_)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.add_typer(skills.app, name="skills")
app.add_typer(suggestions.app, name="suggestions")
app.add_typer(requests.app, name="requests")
app.add_typer(learn.app, name="learn")
app.add_typer(access.app, name="access")
app.add_typer(trust.app, name="trust")
app.add_typer(identity.app, name="identity")
app.command()(identity.login)
app.command()(identity.logins)
app.command()(identity.logout)
app.command()(log)
app.command("eval", epilog=DATABASE)(eval_)
app.command()(doctor)
app.command()(connect)
app.command()(console)
app.command()(up)
app.command()(status)
app.command()(verify)
app.command(epilog=DATABASE)(reindex)
app.command(epilog=DATABASE)(migrate)
app.add_typer(dlq.app, name="dlq")
app.command("token")(make_token)
app.command("sam-env", context_settings=sam_env.CONTEXT)(sam_env.sam_env)


@app.callback()
def options(
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the logs of what runs in this process, on standard error.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --version: print it as JSON. Commands take it behind their names.")
    ] = False,
) -> None:
    """Take the options of all commands."""
    if as_json:
        raise Misused("--json belongs behind the command: `skillroute COMMAND --json`")
    keep_back(verbose=verbose)


def main() -> None:
    """Run a command."""
    app()


if __name__ == "__main__":
    main()
