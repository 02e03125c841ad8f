"""What is installed is locked: every pin has its hashes, and the locks agree with each other and with the ranges."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
LOCKS = sorted(ROOT.glob("locks/*.lock"))
LOCKED = runpy.run_path(str(ROOT / "locks" / "lock.py"))["LOCKED"]
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("linux", "darwin")
HASHED = re.compile(
    r"^(?P<pin>[^\s#-][^\\\n]*?) *(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n(?:    #.*\n)*", re.MULTILINE
)


def pins(lock: Path) -> list[Requirement]:
    """Return the pins of a lock, of which a package may have several with markers."""
    return [Requirement(found["pin"]) for found in HASHED.finditer(lock.read_text("utf-8"))]


def installed(lock: Path, python: str, system: str) -> dict[str, str]:
    """Return what a lock installs there, by name."""
    place = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": system}
    environment = {**default_environment(), **place}
    wanted = [pin for pin in pins(lock) if pin.marker is None or pin.marker.evaluate(environment)]
    found = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in wanted}
    assert len(found) == len(wanted), f"{lock.name} has a package twice for Python {python} on {system}"
    return found


def ranges(project: str, *extras: str) -> list[Requirement]:
    """Return the requirements of a project and some of its extras, those that extras name included."""
    about = tomllib.loads((ROOT / project).read_text("utf-8"))["project"]
    listed = [Requirement(text) for text in about["dependencies"]]
    for extra in extras:
        for required in map(Requirement, about["optional-dependencies"][extra]):
            own = canonicalize_name(required.name) == about["name"]
            listed += ranges(project, *required.extras) if own else [required]
    return [required for required in listed if required.name != "skillroute-client"]


def test_each_environment_has_its_lock() -> None:
    assert {lock.stem for lock in LOCKS} == LOCKED.keys()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_has_pins_with_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text("utf-8")

    rest = HASHED.sub("", text)

    assert not re.findall(r"^[^#\n].*", rest, re.MULTILINE), "lines that are no pin with its hashes"
    assert all(str(pin.specifier).startswith("==") and pin.url is None for pin in pins(lock))
    assert "://" not in text


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_what_runs_is_of_the_versions_that_are_tested(python: str, system: str) -> None:
    tested = installed(ROOT / "locks/dev.lock", python, system)

    for name in ("run", "console"):
        others = installed(ROOT / f"locks/{name}.lock", python, system)
        assert others.items() - tested.items() == {pair for pair in others.items() if pair[0] not in tested}, name
    assert installed(ROOT / "locks/run.lock", python, system).items() <= tested.items()


def test_lambda_has_the_versions_that_are_tested() -> None:
    tested = installed(ROOT / "locks/dev.lock", "3.13", "linux")
    layers = dict(
        re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "layers/requirements.lock").read_text("utf-8"), re.MULTILINE)
    )

    assert layers.items() <= tested.items()


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("lock", "project", "extras"),
    [
        ("run", "pyproject.toml", ["local"]),
        ("dev", "pyproject.toml", ["dev"]),
        ("console", "pyproject.toml", ["console-test"]),
        ("adapters", "clients/python/pyproject.toml", ["adapters-test"]),
        ("run", "clients/python/pyproject.toml", []),
    ],
)
def test_a_lock_is_within_the_ranges_of_its_project(python: str, lock: str, project: str, extras: list[str]) -> None:
    there = installed(ROOT / f"locks/{lock}.lock", python, "linux")

    for required in ranges(project, *extras):
        version = there.get(canonicalize_name(required.name))
        assert version is not None and required.specifier.contains(version), f"{required}: make lock"


def test_npm_s_tools_have_hashes_and_no_addresses() -> None:
    lock = json.loads((ROOT / "locks/npm/package-lock.json").read_text("utf-8"))
    wanted = json.loads((ROOT / "locks/npm/package.json").read_text("utf-8"))["devDependencies"]

    root, *packages = lock["packages"].values()

    assert root["devDependencies"] == wanted
    assert packages and all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)


def test_make_installs_nothing_that_is_not_locked() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    installing = [
        line for line in makefile.splitlines() if re.search(r"pip install|\$\(PIP\)|npm (ci|install) |npx ", line)
    ]
    free = [line for line in installing if "--no-deps" not in line and "npm ci" not in line]

    assert [line for line in free if not line.startswith("PIP :=")] == [
        "\t@.venv-newest/bin/python $(PIP) -e clients/python -e '.[dev]'",
        "\t@$(BIN)/python -m uv pip install -q --python .venv-oldest/bin/python --resolution lowest-direct "
        "-e clients/python -e '.[dev]'",
    ]
