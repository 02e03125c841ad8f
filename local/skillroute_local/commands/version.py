"""`skillroute --version`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import typer


def show_version(asked: bool) -> None:
    """Print the version of the command line, which is that of the package, and end."""
    if asked:
        number = version("skillroute")
        as_json = "--json" in sys.argv
        sys.stdout.write(f"{json.dumps({'version': number})}\n" if as_json else f"skillroute {number}\n")
        raise typer.Exit
