"""`skillroute --version`."""

from __future__ import annotations

import sys

import typer
from skillroute import __version__

from skillroute_local.commands.shared import print_json


def show_version(context: typer.Context, asked: bool) -> None:
    """Print the version of the command line, which is that of the package, and end."""
    if not asked:
        return
    if context.obj:  # whether --json stands anywhere: options behind this one are not read yet
        print_json({"version": __version__})
    else:
        sys.stdout.write(f"skillroute {__version__}\n")
    raise typer.Exit
