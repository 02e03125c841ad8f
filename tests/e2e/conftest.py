"""Homes and processes for the tests; the running Skillroute that tests share which only ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.processes import Processes, Up
from tests.temporary import temporary_directory


@contextmanager
def _fresh_home() -> Iterator[Path]:
    with temporary_directory("skillroute-e2e-") as directory:
        Path(directory).chmod(0o711)  # others may pass, as root's PostgreSQL must
        yield Path(directory) / "home"


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory for SKILLROUTE_HOME that is not there yet."""
    with _fresh_home() as home:
        yield home


@pytest.fixture
def processes(home: Path, tmp_path: Path) -> Iterator[Processes]:
    """Starts servers, and ends them after the test, before their home is removed."""
    started = Processes(tmp_path)
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """`skillroute up` in a fresh home, with the examples and the real model: about 4 s, once."""
    with _fresh_home() as home:
        started = Processes(tmp_path_factory.mktemp("running"))
        try:
            yield started.up(home).ready()
        finally:
            started.close()
