"""The SAM CLI, run over what `make build` built, with its logs kept."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillroute_local.loopback import HOST, free_port

from tests.events import FILES, KEPT, ROOT, write

BUILD = ROOT / ".aws-sam" / "build"
LOGS = ROOT / ".aws-sam" / "logs"
OF_THIS_PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "alone")
"""Stands in the names of its logs."""

FUNCTIONS = ("search", "mcp", "catalog", "skills", "classify", "aggregate", "learn", "call", "relay")

_CONTAINER = re.compile(r"SAM_CONTAINER_ID: ([0-9a-f]{12,64})")
_TIMEOUT = re.compile(r"^(      Timeout: )(\d+)$", re.MULTILINE)
_PATIENCE = 4
"""How many times its timeout a function has here: it shares two cores with other containers, a browser and tests."""
_INVOKED_WITHIN_S = 180.0  # the first one of a set of layers builds an image
_LISTENS_WITHIN_S = 240.0
_ENDS_WITHIN_S = 30.0
_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}


def logical_id(function: str) -> str:
    """Return a function's name in template.yaml."""
    return f"{function.capitalize()}Function"


class Sam:
    """`sam local` with one set of parameters and one environment of the functions.

    Parameters
    ----------
    variables : mapping of str to str
        What the functions find in their environment, over what the template says.
    parameters : str
        Of the template, as ``Name=value``.
    """

    def __init__(self, directory: Path, variables: Mapping[str, str], *parameters: str) -> None:
        self._folder = directory
        self._env_file = directory / "env.json"
        self._env_file.write_text(json.dumps({"Parameters": dict(variables)}), encoding="utf-8")
        self._env_file.chmod(0o600)
        self._parameters = [f"Architecture={_ARCHITECTURES[platform.machine().lower()]}", *parameters]
        self._runs = 0
        self._last: dict[str, Path] = {}  # the log of the last run, by what ran

    def invoke(self, function: str, event: str) -> Any:
        """Run a function in a container of its own with an event, and return what it answered.

        The event is the file of events/ where there is one.
        """
        log = self._log(f"{function}-{event}")
        file = FILES / f"{event}.json" if event in KEPT else write(event, self._folder)
        command = self._command("invoke", logical_id(function), "--event", str(file))
        try:
            with log.open("wb") as file:
                done = subprocess.run(
                    command, cwd=ROOT, stdout=subprocess.PIPE, stderr=file, check=False, timeout=_INVOKED_WITHIN_S
                )
        finally:
            _remove_containers(log)
        assert done.returncode == 0, f"sam local invoke ended with {done.returncode}, see {log}"
        lines = done.stdout.decode().splitlines()
        assert lines, f"{logical_id(function)} answered nothing, see {log}"
        return json.loads(lines[-1])

    @contextmanager
    def serving(self, what: str) -> Iterator[str]:
        """Run ``start-api`` or ``start-lambda`` with containers that stay warm, and lend its URL."""
        port = free_port()
        log = self._log(what)
        command = self._command(what, "--host", HOST, "--port", str(port), "--warm-containers", "LAZY")
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            _wait_until_it_listens(process, port, log)
            yield f"http://{HOST}:{port}"
        finally:
            _end(process)
            _remove_containers(log)

    def log(self, what: str) -> str:
        """Return all that the last run of ``what`` has written so far."""
        return self._last[what].read_text(encoding="utf-8", errors="replace")

    def _command(self, *arguments: str) -> list[str]:
        image = os.environ.get("SKILLROUTE_SAM_IMAGE")
        return [
            os.environ.get("SAM", "sam"),
            "local",
            *arguments,
            *("--template-file", str(_patient_template())),
            *("--config-file", str(ROOT / "samconfig.toml")),
            *("--env-vars", str(self._env_file)),
            *("--parameter-overrides", " ".join(self._parameters)),
            *(("--invoke-image", image, "--skip-pull-image") if image else ()),
        ]

    def _log(self, what: str) -> Path:
        LOGS.mkdir(parents=True, exist_ok=True)
        self._runs += 1
        self._last[what] = LOGS / f"{time.strftime('%H%M%S')}-{OF_THIS_PROCESS}-{self._runs:03}-{what}.log"
        return self._last[what]


def _patient_template() -> Path:
    """Write the built template with longer timeouts beside it, where its relative paths hold, and return the file."""
    built = (BUILD / "template.yaml").read_text(encoding="utf-8")
    file = BUILD / f"template-{OF_THIS_PROCESS}.yaml"
    file.write_text(_TIMEOUT.sub(lambda line: f"{line[1]}{int(line[2]) * _PATIENCE}", built), encoding="utf-8")
    return file


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _LISTENS_WITHIN_S
    while True:
        assert process.poll() is None, f"sam ended with {process.returncode}, see {log}"
        assert time.monotonic() < deadline, f"sam does not listen, see {log}"
        with socket.socket() as sock:
            if sock.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C, upon which sam stops its containers; kill it when it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _remove_containers(log: Path) -> None:
    """Remove what sam left behind of those that it started: none, unless it was killed."""
    ids = _CONTAINER.findall(log.read_text(encoding="utf-8", errors="replace"))
    if ids:
        subprocess.run(["docker", "rm", "--force", *ids], capture_output=True, check=False, timeout=60)
