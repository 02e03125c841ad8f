"""Both wheels, built as a release is, and fresh environments that they are installed into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "locks" / "run.lock"
_UV = Path(sys.executable).with_name("uv")
_INSTALLED_WITHIN_S = 600.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.wheel)


def clean_environment(**settings: str) -> dict[str, str]:
    """Return what a process sees: nothing that leads to the checkout or its environment, nor to a Skillroute."""
    led = ("SKILLROUTE_", "PYTHON", "VIRTUAL_ENV", "PORT", "UV_PROJECT")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(led)}
    return kept | {"COLUMNS": "200"} | settings


def _uv(*args: object) -> str:
    done = subprocess.run(
        [_UV, *map(str, args)], env=clean_environment(), capture_output=True, text=True, check=False,
        timeout=_INSTALLED_WITHIN_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment of its own, with an empty folder to run in."""

    path: Path
    folder: Path

    def program(self, name: str) -> Path:
        """Return where a program of it is."""
        return self.path / "bin" / name

    def run(self, name: str, *args: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in the folder, to its end."""
        return subprocess.run(
            [self.program(name), *args], cwd=self.folder, env=clean_environment(**settings), capture_output=True,
            text=True, check=False, timeout=120.0,
        )  # fmt: skip

    def packages(self) -> set[str]:
        """Return what is installed."""
        return {each["name"] for each in json.loads(_uv("pip", "list", "--python", self.path, "--format", "json"))}


@dataclass(frozen=True, slots=True)
class Wheels:
    """Both wheels, by their sdists."""

    skillroute: Path
    client: Path


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """Build each sdist, and each wheel from its sdist: so the sdists are whole as well."""
    folder = tmp_path_factory.mktemp("dist")
    for project in (ROOT, ROOT / "clients" / "python"):
        _uv("build", "--build-constraint", LOCK, "--out-dir", folder, project)
    [skillroute], [client] = folder.glob("skillroute-*.whl"), folder.glob("skillroute_client-*.whl")
    return Wheels(skillroute, client)


def _environment(*requirements: str) -> Iterator[Environment]:
    # On the disk: it takes 0.9 GB with the extra.
    with tempfile.TemporaryDirectory(prefix="skillroute-wheel-") as directory:
        Path(directory).chmod(0o711)  # others may pass, as root's PostgreSQL must
        made = Environment(Path(directory) / "venv", Path(directory) / "empty")
        made.folder.mkdir()
        _uv("venv", "--python", sys.executable, made.path)
        # Of the versions that are tested; `make test-newest` says whether newer ones work.
        _uv("pip", "install", "--python", made.path, "--constraint", LOCK, *requirements)
        yield made


@pytest.fixture(scope="session")
def bare(wheels: Wheels) -> Iterator[Environment]:
    """Skillroute without an extra."""
    yield from _environment(str(wheels.skillroute))


@pytest.fixture(scope="session")
def client(wheels: Wheels) -> Iterator[Environment]:
    """The client alone."""
    yield from _environment(str(wheels.client))


@pytest.fixture(scope="session")
def laptop(wheels: Wheels) -> Iterator[Environment]:
    """Skillroute as a person installs it. The files are named: a registry may have other packages of these names."""
    yield from _environment(f"{wheels.skillroute}[local]", str(wheels.client))
