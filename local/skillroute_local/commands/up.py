"""`skillroute up`: everything on this machine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from skillroute_local.commands.shared import out
from skillroute_local.errors import LocalError
from skillroute_local.home import Home


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
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the logs in the terminal instead of writing them to a file.")
    ] = False,
) -> None:
    """Start everything on this machine; its state lives in SKILLROUTE_HOME, .skillroute by default.

    Ctrl-C stops it, with exit status 0. Warnings and errors of the program go to skillroute.log in SKILLROUTE_HOME;
    where standard output is no terminal they go there.
    """
    if os.name != "posix":
        raise LocalError(
            "`skillroute up` needs Linux or macOS (on Windows, WSL); "
            "`skillroute connect`, and commands with --url, do not"
        )
    from skillroute_local.up import Doors, up as start  # noqa: PLC0415, I001 (other commands need none of it)

    doors = Doors(port, host, tuple(allow_host or ()))
    try:
        start(Home.from_environment(), doors, examples=examples, pump=pump, console=out, verbose=verbose)
    except KeyboardInterrupt:
        return  # it is how one stops it, and no failure
