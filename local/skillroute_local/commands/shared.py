"""What the commands share: the console, their options, and the Skillroute that they are about."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skillroute_local.errors import LocalError
from skillroute_local.home import Home

if TYPE_CHECKING:
    from skillroute.bootstrap import Parts

out = Console()
err = Console(stderr=True)

Url = Annotated[
    str | None,
    typer.Option(help="A Skillroute to call; default: the one that runs here.", envvar="SKILLROUTE_URL"),
]
Token = Annotated[str | None, typer.Option(help="Bearer token.", envvar="SKILLROUTE_TOKEN")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def url_of(url: str | None) -> str:
    """Return the URL that was given, else that of the Skillroute that runs here."""
    if url:
        return url
    home = Home.from_environment()
    run = home.running()
    if run is None:
        raise LocalError(f"nothing runs in {home.path}: start it with `make run`, or say where with --url")
    return run.url


def print_json(value: Any) -> None:
    """Print a value for programs: no colours, no wrapping."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


@contextmanager
def parts_here() -> Iterator[Parts]:
    """Lend the parts of the Skillroute that runs here: its database and its queues.

    SKILLROUTE_DATABASE_URL, and the settings of the queues, name another one's.

    Raises
    ------
    LocalError
        There is neither.
    """
    from skillroute.bootstrap import Parts  # noqa: PLC0415 (most commands call the API and need none of it)

    from skillroute_local.queue_server import find_queues, queue_environment  # noqa: PLC0415
    from skillroute_local.up import local_settings, running_database_url  # noqa: PLC0415

    home = Home.from_environment()
    database_url, run = running_database_url(home), home.running()
    if run is not None and run.database_url == database_url:
        os.environ.update(queue_environment(run.sqs_url, find_queues(run.sqs_url)))
    parts = Parts(local_settings(database_url))
    try:
        yield parts
    finally:
        parts.close()
        if parts.queue is not None:
            parts.queue.close()
