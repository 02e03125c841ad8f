"""The whole command line, but for its process, against a Skillroute that is served on a port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.observability import logger
from skillroute_local.cli import app
from typer.testing import CliRunner

from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.e2e.processes import answered, served

TOOLS = {
    "calendar": {"create_event": "Schedule a meeting with people.", "list_events": "Show what is planned."},
    "mail": {"send_mail": "Write a letter to somebody."},
}


class CommandLine:
    """`skillroute`, as a shell runs it."""

    def __init__(self, url: str | None) -> None:
        self.environment: dict[str, str | None] = {"SKILLROUTE_URL": url}

    def __call__(self, *args: str, text: str | None = None, **environment: str) -> Result:
        return CliRunner().invoke(app, args, input=text, env=self.environment | environment, prog_name="skillroute")

    def json(self, *args: str, **environment: str) -> Any:
        """Return what a command answers as JSON; it must be done."""
        done = self(*args, "--json", **environment)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def error(self, *args: str, **environment: str) -> dict[str, Any]:
        """Return the error of a command that fails, which is its only output."""
        done = self(*args, "--json", **environment)
        assert done.exit_code != 0, done.output
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        error: dict[str, Any] = json.loads(line)
        assert error["exit_code"] == done.exit_code
        return error


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Let the logs of this process go where they went before a command kept them back."""
    handler, level = logger.registered_handler, logger.log_level
    stream = handler.stream  # type: ignore[attr-defined]
    yield
    handler.stream = stream  # type: ignore[attr-defined]
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def nothing_runs_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home where nothing runs, and an environment that names no other Skillroute and no database."""
    home = tmp_path / "home"
    monkeypatch.setenv("SKILLROUTE_HOME", str(home))
    for name in ("URL", "TOKEN", "SIGN_REGION", "LOG_LEVEL", "DATABASE_URL", "DATABASE_SECRET_ARN", "DATABASE_USER"):
        monkeypatch.delenv(f"SKILLROUTE_{name}", raising=False)
    return home


@pytest.fixture
def system(emptied_database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(emptied_database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        yield system


@pytest.fixture
def api(system: System) -> Iterator[httpx.Client]:
    with served(app_over(system)) as client:
        rows = [
            {"server": server, "name": name, "description": text, "input_schema": {"type": "object"}}
            for server, named in TOOLS.items()
            for name, text in named.items()
        ]
        answered(client.put("/api/v1/tools", json={"items": rows}))
        yield client


@pytest.fixture
def run(api: httpx.Client) -> CommandLine:
    """The command line with a Skillroute to call."""
    return CommandLine(str(api.base_url))


@pytest.fixture
def alone() -> CommandLine:
    """The command line with nothing to call."""
    return CommandLine(None)
