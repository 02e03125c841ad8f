"""`skillroute --version`."""

from __future__ import annotations

import sys
from importlib.metadata import version

import typer

from skillroute_local.commands.shared import print_json


def show_version(context: typer.Context, asked: bool) -> None:
    """Print the version of the command line, which is that of the package, and end."""
    if not asked:
        return
    number = version("skillroute")
    if context.obj:  # whether --json stands anywhere: options behind this one are not read yet
        print_json({"version": number})
    else:
        sys.stdout.write(f"skillroute {number}\n")
    raise typer.Exit
