"""`skillroute sam-env`: the functions under `sam local`, over the Skillroute that runs here."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from skillroute_local.commands.shared import err, print_json
from skillroute_local.docker_bridge import Forwards, host_for_containers
from skillroute_local.errors import LocalError, Unreachable
from skillroute_local.home import Home, Run
from skillroute_local.loopback import HOST
from skillroute_local.queue_server import find_queues, queue_environment

_AT_LOOPBACK = re.compile(rf"(?<=[@/]){re.escape(HOST)}:(\d+)")
# What functions connect to. A token's issuer may look like an address too, and must stay what the tokens say.
_ADDRESSES = (
    "SKILLROUTE_DATABASE_URL",
    "SKILLROUTE_SQS_ENDPOINT_URL",
    "SKILLROUTE_CLASSIFY_QUEUE_URL",
    "SKILLROUTE_CLASSIFY_DLQ_URL",
    "SKILLROUTE_AGGREGATE_QUEUE_URL",
    "SKILLROUTE_AGGREGATE_DLQ_URL",
    "SKILLROUTE_LEARN_QUEUE_URL",
    "SKILLROUTE_LEARN_DLQ_URL",
)
UNSET = dict.fromkeys(
    (
        "SKILLROUTE_DATABASE_SECRET_ARN",
        "SKILLROUTE_DATABASE_USER",
        "SKILLROUTE_DATABASE_OWNER_SECRET_ARN",
        "SKILLROUTE_DATABASE_READER_SECRET_ARN",
        "SKILLROUTE_DATABASE_WRITER_SECRET_ARN",
        "SKILLROUTE_DATABASE_IAM_LOGINS",
        "SKILLROUTE_DATABASE_HOST",
        "SKILLROUTE_DATABASE_PORT",
        "SKILLROUTE_DATABASE_NAME",
        "SKILLROUTE_DATABASE_SSLMODE",
        "SKILLROUTE_NOTIFICATION_TOPIC_ARN",
    ),
    "",
)
"""The settings that the template sets for AWS and that have no value here; empty means unset."""

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Of click: what stands behind the command that is to be run is that command's."""


def sam_env(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="A `sam local` command to run over it, with its options.", show_default=False),
    ] = None,
) -> None:
    """Let `sam local` run the functions over the Skillroute that runs here: its database, its queues, its tokens.

    `skillroute sam-env sam local invoke SearchFunction -e events/search.json` runs the command with `--env-vars FILE`
    at its end. Without a command the file's JSON is printed; where Docker needs connections to 127.0.0.1 passed on,
    that goes on until Ctrl-C.
    """
    home = Home.from_environment()
    run = home.running()
    if run is None:
        raise Unreachable(f"nothing runs in {home.path}: start it with `skillroute up`")
    with reachable_by_containers(function_environment(home, run)) as (variables, is_passed_on):
        document = {"Parameters": variables}
        if command:
            raise typer.Exit(_run(command, document))
        print_json(document)
        if is_passed_on:
            err.print("connections of containers are passed on to 127.0.0.1 until Ctrl-C", highlight=False)
            threading.Event().wait()


def function_environment(home: Home, run: Run) -> dict[str, str]:
    """Return what functions find in their environment that work with a running Skillroute."""
    queues = queue_environment(run.sqs_url, find_queues(run.sqs_url))
    return {"SKILLROUTE_DATABASE_URL": run.database_url} | queues | UNSET | _tokens(home, run)


def _tokens(home: Home, run: Run) -> dict[str, str]:
    """Return the settings that make functions take the tokens of `skillroute token`, where the running one does."""
    if run.tokens is None:
        return {}
    from skillroute_local.tokens import TokenKey  # noqa: PLC0415 (cryptography: 60 ms)

    form = {f"SKILLROUTE_JWT_{name.upper()}": value for name, value in run.tokens.items()}
    return form | {"SKILLROUTE_AUTH": "jwt", "SKILLROUTE_JWT_KEYS": TokenKey.of(home).key_set()}


@contextmanager
def reachable_by_containers(variables: Mapping[str, str]) -> Iterator[tuple[dict[str, str], bool]]:
    """Lend settings that name this machine as containers reach it, and say whether connections are passed on meanwhile.

    Raises
    ------
    LocalError
        Docker is not there.
    """
    host, must_pass_on = host_for_containers()
    addresses = {name: variables[name] for name in _ADDRESSES if name in variables}
    ports = {int(port) for value in addresses.values() for port in _AT_LOOPBACK.findall(value)}
    there = {**variables, **{name: _AT_LOOPBACK.sub(rf"{host}:\1", value) for name, value in addresses.items()}}
    # The server on loopback knows no TLS; for any other host a function would insist on it.
    there["SKILLROUTE_DATABASE_URL"] += "?sslmode=disable"
    with Forwards(host, ports) if must_pass_on else nullcontext():
        yield there, must_pass_on


def _run(command: Sequence[str], document: Mapping[str, object]) -> int:
    """Run a command with the document as its ``--env-vars``, and return its exit status."""
    with tempfile.TemporaryDirectory(prefix="skillroute-sam-") as directory:  # nobody else may look inside
        file = Path(directory) / "env.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        try:
            with subprocess.Popen([*command, "--env-vars", str(file)]) as process:  # noqa: S603
                try:
                    return process.wait()
                except KeyboardInterrupt:  # the terminal interrupted the command too, which may have containers to stop
                    return process.wait()
        except FileNotFoundError as error:
            raise LocalError(
                f"there is no command {command[0]}: `make build` installs sam as .venv-sam/bin/sam"
            ) from error
