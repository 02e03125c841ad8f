"""The client's adapters with the real libraries, in an environment of their own, over a Skillroute that runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.processes import Up

PYTHON = os.environ.get("SKILLROUTE_ADAPTERS_PYTHON")
CLIENT = Path(__file__).parents[2] / "clients" / "python"


@pytest.mark.skipif(PYTHON is None, reason="needs an environment with the frameworks: make test-adapters")
def test_the_adapters_work_with_the_real_libraries(running: Up) -> None:
    command = [str(PYTHON), "-m", "pytest", "-c", str(CLIENT / "pyproject.toml"), "-p", "no:cacheprovider"]
    environment = os.environ | {"SKILLROUTE_URL": running.url}
    done = subprocess.run(
        command, cwd=CLIENT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
