"""The console, options and connection to a Skillroute that the commands share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from skillroute.core.caller import Scope

from skillroute_local.errors import Unreachable
from skillroute_local.home import Home, Run

if TYPE_CHECKING:
    from skillroute.wiring import Parts

    from skillroute_local.client import Client

_OWN_TOKEN_S = 300

# Names of emoji stand in what is shown, and mean none: an ARN has `:secret:` in it.
out = Console(emoji=False)
err = Console(stderr=True, emoji=False)

Url = Annotated[
    str | None,
    typer.Option(help="A Skillroute to call; default: the one that runs here.", envvar="SKILLROUTE_URL"),
]
Token = Annotated[
    str | None,
    typer.Option(help="Bearer token; the Skillroute that runs here needs none.", envvar="SKILLROUTE_TOKEN"),
]
SignRegion = Annotated[
    str | None,
    typer.Option(
        help="Sign requests with the AWS credentials of the environment, for API Gateway in this region. Needed for a "
        "domain of your own only: without a token, requests to an execute-api host of AWS are signed anyway.",
        envvar="SKILLROUTE_SIGN_REGION",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

DATABASE = (
    "The database is that of the Skillroute that runs here. Another one is named by SKILLROUTE_DATABASE_URL, or by "
    "SKILLROUTE_DATABASE_SECRET_ARN: a secret of AWS Secrets Manager, read with the AWS credentials of the "
    "environment. SKILLROUTE_DATABASE_HOST, _PORT, _NAME and _SSLMODE go before what the secret says. "
    "SKILLROUTE_DATABASE_USER with _HOST and _NAME logs in with tokens of RDS (IAM authentication) instead."
)
"""Stands under the help of every command that works on a database itself."""

QUEUES = (
    f"{DATABASE}\n\nThe queues of another database are named by SKILLROUTE_CLASSIFY_QUEUE_URL, "
    "SKILLROUTE_AGGREGATE_QUEUE_URL and SKILLROUTE_LEARN_QUEUE_URL, and their dead letters by the same with _DLQ_URL."
)
"""The same, of those that use queues."""


def url_of(url: str | None) -> str:
    """Return the URL that was given, else that of the Skillroute that runs here."""
    if url:
        return url
    home = Home.from_environment()
    run = home.running()
    if run is None:
        raise Unreachable(f"nothing runs in {home.path}: start it with `skillroute up`, or say where with --url")
    return run.url


def running_at(url: str) -> Run | None:
    """Return the Skillroute that runs here when it is the one at `url`, else None."""
    run = Home.from_environment().running()
    return run if run is not None and run.url == url.rstrip("/") else None


def client_for(
    url: str | None,
    token: str | None,
    sign_region: str | None = None,
    *,
    within_s: float | None = None,
    patient: bool = False,
) -> Client:
    """Return a client of the Skillroute that was named, else of the one that runs here.

    One that runs here and takes tokens of this home's key gets them without being asked; no other one ever does.
    Nothing is signed for it, even where the environment names a deployment's region. `within_s` is how long a request
    may take, in seconds; None leaves it to the client. A `patient` one makes calls again when a server
    restarts: for what takes long and may be done twice.
    """
    from skillroute_local.client import ONCE, PATIENT, Client  # noqa: PLC0415 (other commands need none of it)

    called = url_of(url)
    # Who waits for a completion is not kept waiting by a second attempt.
    patience: dict[str, Any] = {"timeout_s": within_s, "retry": ONCE} if within_s else {}
    if patient:
        patience["retry"] = PATIENT
    run = running_at(called)
    if run is None:
        return Client(called, token, sign_region=sign_region, **patience)
    return Client(called, token_for(called, token), **patience)


def token_for(called: str, token: str | None) -> str | Callable[[], str] | None:
    """Return the token that was given, else what makes tokens of this home's key for the Skillroute that takes them.

    Only the one that runs here does; for any other it is None without a token.
    """
    run = running_at(called)
    if token or run is None or run.tokens is None:
        return token
    from skillroute_local.tokens import TokenForm, TokenKey  # noqa: PLC0415 (cryptography: 60 ms)

    key, form = TokenKey.of(Home.from_environment()), TokenForm(**run.tokens)
    # A new one for each call, so that no import is too long for it: signing takes a millisecond.
    return lambda: key.sign(form, [Scope.ADMIN], org=None, subject="skillroute", expires_in_s=_OWN_TOKEN_S)


def print_json(value: Any) -> None:
    """Print a value for programs: no colours, no wrapping."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def listed(parts: Sequence[str]) -> str:
    """Return two or more parts as a sentence has them: ``a, b, and c``."""
    *most, last = parts
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}"


def progress_bar(progress: str) -> Progress:
    """Return a bar for what takes a while, shown where stderr is a terminal; `progress` says how far it is."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(progress), TimeRemainingColumn())
    return Progress(*columns, console=err, disable=not err.is_terminal)


def names_a_database() -> bool:
    """Return whether the environment names a database: by its URL, a secret or a user. What is empty does not count."""
    return any(os.environ.get(f"SKILLROUTE_DATABASE_{name}") for name in ("URL", "SECRET_ARN", "USER"))


def run_here() -> Run | None:
    """Return the Skillroute that runs here, None where the environment names another database than its own.

    Raises
    ------
    Unreachable
        There is neither.
    """
    home = Home.from_environment()
    run = home.running()
    if names_a_database():
        is_its_own = run is not None and run.database_url == os.environ.get("SKILLROUTE_DATABASE_URL")
        return run if is_its_own else None
    if run is None:
        raise Unreachable(
            f"nothing runs in {home.path}: start it with `skillroute up`, or name a database with "
            "SKILLROUTE_DATABASE_URL or SKILLROUTE_DATABASE_SECRET_ARN"
        )
    return run


def use_queues_of(run: Run) -> None:
    """Make the queues of the Skillroute that runs here those of this process. Raises `LocalError` without them."""
    from skillroute_local.queue_server import find_queues, queue_environment  # noqa: PLC0415

    os.environ.update(queue_environment(run.sqs_url, find_queues(run.sqs_url)))


@contextmanager
def parts_here(*, queues: bool = True, **settings: Any) -> Iterator[Parts]:
    """Lend the parts of the Skillroute that runs here: its database and its queues.

    The settings of the database, and those of the queues, name another one's.

    Parameters
    ----------
    queues : bool
        False leaves the queues of the one that runs here alone.
    settings
        Of this process, whatever the environment says.

    Raises
    ------
    Unreachable
        There is neither.
    """
    run = run_here()
    if run is not None and queues:
        use_queues_of(run)
    with parts_of(run, **settings) as parts:
        yield parts


@contextmanager
def parts_of(run: Run | None, **settings: Any) -> Iterator[Parts]:
    """Lend the parts of a Skillroute that runs here; of None those that the environment names."""
    from skillroute.wiring import Parts  # noqa: PLC0415 (most commands call the API and need none of it)

    from skillroute_local.up import local_settings  # noqa: PLC0415

    parts = Parts(local_settings(run.database_url if run else None).model_copy(update=settings))
    try:
        yield parts
    finally:
        parts.close()
