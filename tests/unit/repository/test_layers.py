"""What is in the layers: every pin against the lock, the lock against the project."""

from __future__ import annotations

import ctypes
import importlib.util
import io
import itertools
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LAYERS = Path(__file__).parents[3] / "layers"
LOCK = LAYERS / "requirements.lock"
PLAN = tomllib.loads((LAYERS / "packages.toml").read_text("utf-8"))
PROJECT = tomllib.loads((LAYERS.parent / "pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENTS = {path.parent.name: path for path in LAYERS.glob("*/requirements.txt")}
LAMBDA_EXTRAS = ("inference", "qdrant", "openai")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\]+)", re.MULTILINE)


def pins(path: Path) -> dict[str, str]:
    found = PIN.findall(path.read_text("utf-8"))
    assert len(found) == len({name for name, _ in found}), f"{path} names a package twice"
    return {canonicalize_name(name): version for name, version in found}


def test_each_layer_has_its_requirements() -> None:
    assert REQUIREMENTS.keys() == PLAN["layers"].keys()


@pytest.mark.parametrize("layer", sorted(REQUIREMENTS))
def test_the_pins_of_a_layer_are_those_of_the_lock(layer: str) -> None:
    locked = pins(LOCK)
    assert pins(REQUIREMENTS[layer]) == {name: locked[name] for name in PLAN["layers"][layer]["packages"]}


@pytest.mark.parametrize("layer", sorted(REQUIREMENTS))
def test_every_pin_has_the_hash_of_a_wheel_for_each_processor_or_of_one_for_both(layer: str) -> None:
    for block in re.split(r"\n(?=[^\s#])", REQUIREMENTS[layer].read_text("utf-8")):
        if PIN.match(block):
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})(?: \\|\n|$)", block)
            assert 1 <= len(hashes) == len(set(hashes)) <= 2, block


def test_every_package_of_the_lock_is_in_one_layer_or_left_out_for_a_reason() -> None:
    places = [name for layer in PLAN["layers"].values() for name in layer["packages"]]
    assert all(PLAN["left-out"].values())
    assert sorted([*places, *PLAN["left-out"]]) == sorted(pins(LOCK))


def test_the_lock_is_within_the_ranges_of_the_project() -> None:
    extras = PROJECT["optional-dependencies"]
    direct = [Requirement(text) for text in itertools.chain(PROJECT["dependencies"], *map(extras.get, LAMBDA_EXTRAS))]
    locked = pins(LOCK)
    assert [str(need) for need in direct if not need.specifier.contains(locked[canonicalize_name(need.name)])] == []


@pytest.mark.parametrize("path", [LOCK, *REQUIREMENTS.values()], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_says_where_packages_are_taken_from(path: Path) -> None:
    assert re.findall(r"://|--(?:extra-)?index-url|--find-links|--trusted-host", path.read_text("utf-8")) == []


@pytest.fixture
def drop_symbols() -> Any:
    return runpy.run_path(str(LAYERS / "drop_symbols.py"))["drop_symbols"]


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries are for Linux")
def test_a_library_without_its_symbol_table_still_loads(drop_symbols: Any, tmp_path: Path) -> None:
    installed = importlib.util.find_spec("tokenizers.tokenizers")
    assert installed is not None and installed.origin is not None
    library = tmp_path / "library.so"
    shutil.copy(installed.origin, library)
    before = library.stat().st_size
    for _ in range(2):  # the second time there is nothing left to cut
        with library.open("r+b") as opened:
            drop_symbols(opened)
        assert library.stat().st_size < 0.9 * before
    assert ctypes.CDLL(str(library)).PyInit_tokenizers


def test_what_is_no_library_keeps_its_symbols(drop_symbols: Any) -> None:
    for content in (b"", b"INPUT(-lm)\n", b"\x7fELF\x01\x01" + bytes(100)):
        file = io.BytesIO(content)
        drop_symbols(file)
        assert file.getvalue() == content


def test_the_check_of_the_layers_starts_without_any_package() -> None:
    """It runs as Lambda does, with nothing installed: what it checks comes onto its path first."""
    started = subprocess.run(
        [sys.executable, "-I", "-S", str(LAYERS / "check.py")], capture_output=True, text=True, check=False
    )
    assert "main() missing" in started.stderr
