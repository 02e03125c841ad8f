"""Helpers of the tests of the laptop: queries, and processes that are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pg8000.native
import psutil
import pytest

from tests.temporary import temporary_directory


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A directory for a cluster, with a space in its path."""
    with temporary_directory("skillroute tests ") as directory:
        yield Path(directory) / "postgres"


@pytest.fixture
def query() -> Callable[..., list[list[Any]]]:
    """Run one statement on a connection of its own."""

    def run(url: str, statement: str) -> list[list[Any]]:
        parts = urlsplit(url)
        connection = pg8000.native.Connection(
            parts.username,
            host=parts.hostname,
            port=parts.port,
            password=parts.password,
            database=parts.path.lstrip("/"),
            ssl_context=False,
        )
        try:
            return connection.run(statement) or []
        finally:
            connection.close()

    return run


@pytest.fixture
def run_and_kill() -> Callable[..., tuple[int, str]]:
    """Run Python source until its first line of output, kill it with SIGKILL, return its pid and that line."""

    def run(source: str, *args: str) -> tuple[int, str]:
        with subprocess.Popen(
            [sys.executable, "-c", f"{source}\nimport sys; sys.stdin.read()", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            process.kill()
        assert line, "the process ended before it said anything"
        return process.pid, line

    return run


@pytest.fixture
def has_ended() -> Callable[[psutil.Process], bool]:
    """Wait until a process that is not a child has ended, for 10 s at most; then tell whether it has.

    Not psutil's own wait: that one waits until somebody has collected the process, which in a container takes long.
    """

    def run(process: psutil.Process) -> bool:
        deadline = time.monotonic() + 10
        try:
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.005)
        except psutil.NoSuchProcess:  # it went between the two questions
            pass
        return True

    return run


@pytest.fixture
def kill(has_ended: Callable[[psutil.Process], bool]) -> Callable[[int], None]:
    """Kill a process that is not a child, with SIGKILL, and return when it has ended."""

    def run(pid: int) -> None:
        process = psutil.Process(pid)
        process.kill()
        assert has_ended(process)

    return run
