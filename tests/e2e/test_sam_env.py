"""`skillroute sam-env`, with a docker of our own: its bridge is 127.0.0.2, where nothing listens by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import HASHING, Processes, Up, cli, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address on Linux only")

BRIDGE = "127.0.0.2"

# What a function does first, from the settings that `sam local` reads from the file.
_AS_A_FUNCTION = """
import json, os, pathlib, sys
before, option, file = sys.argv[1:]
assert (before, option) == ("--layer-cache-basedir=x", "--env-vars")
assert oct(os.stat(pathlib.Path(file).parent).st_mode & 0o077) == "0o0"
variables = json.loads(pathlib.Path(file).read_text())["Parameters"]
os.environ.update(variables)
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.wiring import Parts
from skillroute.core.settings import LocalSettings
parts = Parts(LocalSettings.load())
work = parts.database.read(lambda session: OutboxRepository(session).depths())
depths = parts.queue.depths()
parts.close()
print(json.dumps([len(work), len(depths), file]))
sys.exit(7)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which `docker` is ours."""
    docker = tmp_path / "docker"
    docker.write_text(f"""#!/bin/sh\necho '[{{"Subnet": "127.0.0.0/8", "Gateway": "{BRIDGE}"}}]'\n""", encoding="utf-8")
    docker.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def test_a_command_reaches_database_and_queues_and_its_status_is_passed_on(running: Up, path: str) -> None:
    command = (sys.executable, "-c", _AS_A_FUNCTION, "--layer-cache-basedir=x")

    done = cli(running.home.path, "sam-env", *command, PATH=path)

    assert done.returncode == 7, done.stderr
    work, queues, file = json.loads(done.stdout.splitlines()[-1])
    assert (work, queues) == (3, 3)
    assert not Path(file).exists()  # it held the database's password


def test_the_document_is_printed_and_connections_passed_on_until_it_is_interrupted(
    home: Path, processes: Processes, path: str, tmp_path: Path
) -> None:
    server = processes.up(home, SKILLROUTE_AUTH="jwt", SKILLROUTE_JWT_REQUIRE_ORG="true", **HASHING).ready()
    printed = tmp_path / "env.json"
    with printed.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "skillroute_local.cli", "sam-env"],
            env=environment(home, PATH=path),
            stdout=file,
            stderr=subprocess.PIPE,
        )
    try:
        assert process.stderr is not None
        assert b"until Ctrl-C" in process.stderr.readline()
        variables: dict[str, Any] = json.loads(printed.read_text(encoding="utf-8"))["Parameters"]
    finally:
        process.terminate()
        process.communicate(timeout=30)

    assert f"@{BRIDGE}:{server.postmaster().port}/" in variables["SKILLROUTE_DATABASE_URL"]  # type: ignore[union-attr]
    assert BRIDGE in variables["SKILLROUTE_CLASSIFY_QUEUE_URL"]
    assert variables["SKILLROUTE_AUTH"] == "jwt"
    assert json.loads(variables["SKILLROUTE_JWT_KEYS"])["keys"][0]["kty"] == "RSA"
    assert variables["SKILLROUTE_JWT_AUDIENCE"] == "skillroute"
    assert variables["SKILLROUTE_JWT_REQUIRE_ORG"] == "true"  # of the server's environment; the command's has none


def test_it_says_when_nothing_runs_and_when_there_is_no_such_command(running: Up, home: Path, path: str) -> None:
    nothing = cli(home, "sam-env", PATH=path)
    assert (nothing.returncode, "skillroute up" in nothing.stderr) == (3, True)

    unknown = cli(running.home.path, "sam-env", "no-such-sam", "local", PATH=path)
    assert unknown.returncode == 1
    assert "there is no command no-such-sam" in unknown.stderr
