"""`skillroute export`: all that an organisation has, as lines that `skillroute import` takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from skillroute_client.lines import KINDS

from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.shared import SignRegion, Token, Url, client_for, err, progress_bar
from skillroute_local.errors import Misused

EXAMPLES = """\b
Examples:
  skillroute export --all > backup.ndjson
  skillroute export --kind skill --kind tool -o tools.ndjson
  skillroute import backup.ndjson --dry-run     what would change
  skillroute import backup.ndjson               bring it back, here or there
"""


def export(
    all_: Annotated[bool, typer.Option("--all", help="Export everything.")] = False,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"Export this kind: {', '.join(KINDS)}. May be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, which must be new; default: stdout.")
    ] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
) -> None:
    """Write skills, tools with who assigned them, suggestions, servers, agents and mail, one JSON object a line.

    All lines are of one moment: kinds that change meanwhile are read again. Of an organisation it is what is its own.
    Vectors are not exported; they are made again when lines are imported. It needs scope admin.
    """
    kinds = list(dict.fromkeys(kind or ()))
    if all_ == bool(kinds):
        raise Misused("say what to export: --all, or a kind with --kind")
    if unknown := [name for name in kinds if name not in KINDS]:
        raise Misused(f"--kind: {unknown[0]!r} is not one of {', '.join(KINDS)}")
    from skillroute_local.documents import require_new  # noqa: PLC0415 (other commands need none of it)
    from skillroute_local.exporting import MAX_ROUNDS  # noqa: PLC0415
    from skillroute_local.exporting import export as write  # noqa: PLC0415

    if output is not None:
        require_new(output, force=None)
    with (
        client_for(url, token, sign_region, patient=True) as client,
        progress_bar("{task.completed} lines") as progress,
    ):
        task = progress.add_task("exporting", total=None)
        with _written(output) as to:
            exported = write(client, kinds, to, lambda lines: progress.advance(task, lines))
    counted = ", ".join(f"{number} {name}" for name, number in exported.lines.items())
    err.print(f"exported {counted}", highlight=False, soft_wrap=True)
    if exported.changed:
        names = ", ".join(exported.changed)
        err.print(
            f"[yellow]{names} changed while it was read, {MAX_ROUNDS} times over: its lines are of several moments; "
            "export again when less is written[/]",
            soft_wrap=True,
        )
        raise typer.Exit(ExitCode.PARTIAL)


@contextmanager
def _written(path: Path | None) -> Iterator[BinaryIO]:
    """Open what is written to; a file has its name once it is whole, so that no half of one is taken for a backup."""
    if path is None:
        with open(sys.stdout.fileno(), "wb", closefd=False) as to:
            yield to
        return
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as to:
            yield to
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
