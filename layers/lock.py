"""Resolve what runs on Lambda, and write each layer's pins with their hashes: `make lock`, by way of locks/lock.py.

    python layers/lock.py                 # keeps every version that pyproject.toml still allows
    python layers/lock.py --upgrade       # takes the newest that it allows

requirements.lock is the whole closure, for Python 3.13 on Linux, as uv resolves it: of what locks/dev.lock has too, the
version that is tested. packages.toml says which layer each package goes to. A pin's hashes are those of the wheels that
the layers' builds take, one for each processor, or one for both. Addresses are left out: each builder takes the wheels
from its own index, and gets the same bytes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

Package = dict[str, Any]

LAYERS = Path(__file__).parent
LOCK = LAYERS / "requirements.lock"
MACHINES = ("aarch64", "x86_64")
# As in build.mk: what Lambda's Amazon Linux 2023 can load.
GLIBCS = ("2_17", "2_27", "2_28", "2_34")


def main() -> None:
    """Write requirements.lock, then every layer's requirements.txt."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that pyproject.toml allows")
    upgrade = ["--upgrade"] if parser.parse_args().upgrade else []
    # Without --upgrade, uv keeps what it finds in the file that it is about to write.
    resolve(MACHINES[0], "--annotation-style", "line", "--output-file", str(LOCK), *upgrade)
    plan = tomllib.loads((LAYERS / "packages.toml").read_text("utf-8"))
    locked = {machine: locked_packages(machine) for machine in MACHINES}
    names = {name for packages in locked.values() for name in packages}
    for layer, content in plan["layers"].items():
        if missing := set(content["packages"]) - names:
            sys.exit(f"packages.toml: the layer {layer} names what is not in the lock: {', '.join(sorted(missing))}")
        pins = "\n".join(pin([locked[machine][name] for machine in MACHINES]) for name in content["packages"])
        (LAYERS / layer / "requirements.txt").write_text(f"{header(content['about'])}\n{pins}\n", "utf-8")
        names -= set(content["packages"])
    if unplaced := names - plan["left-out"].keys():
        sys.exit(f"packages.toml gives no place to {', '.join(sorted(unplaced))}")


def resolve(machine: str, *options: str) -> None:
    """Run uv for Lambda's Python, on pyproject.toml and its extras that run there."""
    extras = [argument for extra in ("inference", "qdrant", "openai") for argument in ("--extra", extra)]
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "pyproject.toml", *extras]
    platform = ["--python-version", "3.13", "--python-platform", f"{machine}-manylinux_2_34"]
    tested = ["--constraint", "locks/dev.lock"]
    unwritten = ["--no-emit-index-url", "--no-emit-find-links", "--custom-compile-command", "make lock"]
    subprocess.run([*command, *platform, *tested, *unwritten, *options], cwd=LAYERS.parent, check=True)


def locked_packages(machine: str) -> dict[str, Package]:
    """Return by name what the lock holds, with the files that the index has of it for one processor."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "pylock.toml"
        resolve(machine, "--format", "pylock.toml", "--constraint", str(LOCK), "--output-file", str(files))
        packages = tomllib.loads(files.read_text("utf-8"))["packages"]
    return {canonicalize_name(package["name"]): package for package in packages}


def pin(packages: Sequence[Package]) -> str:
    """Return the requirement that lets pip take a package's wheels for Lambda, and no other file."""
    hashes: dict[str, None] = {}  # in this order, each once
    for package, machine in zip(packages, MACHINES, strict=True):
        found = best_wheel(package["wheels"], machine)
        if found is None:
            sys.exit(f"{package['name']} {package['version']} has no wheel for Python 3.13 on {machine}")
        hashes[found] = None
    name, version = packages[0]["name"], packages[0]["version"]
    return f"{name}=={version}" + "".join(f" \\\n    --hash=sha256:{value}" for value in hashes)


def best_wheel(wheels: Sequence[dict[str, Any]], machine: str) -> str | None:
    """Return the SHA-256 of the wheel that pip prefers for Python 3.13 on this machine."""
    ranks = {tag: rank for rank, tag in enumerate(tags(machine))}
    ranked = []
    for wheel in wheels:
        name = wheel.get("name") or wheel["url"].rpartition("/")[2]
        fitting = [ranks[tag] for tag in parse_wheel_filename(name)[3] if tag in ranks]
        if fitting:
            ranked.append((min(fitting), wheel["hashes"]["sha256"]))
    return str(min(ranked)[1]) if ranked else None


def tags(machine: str) -> list[Tag]:
    """Return what pip takes with build.mk's options, best first."""
    platforms = [f"manylinux_{glibc}_{machine}" for glibc in GLIBCS]
    return [*cpython_tags((3, 13), platforms=platforms), *compatible_tags((3, 13), "cp313", platforms)]


def header(about: str) -> str:
    """Return the comment that a requirements.txt begins with."""
    text = f"{' '.join(about.split())} Written by `make lock` from ../packages.toml and ../requirements.lock."
    return textwrap.fill(text, 120, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


if __name__ == "__main__":
    main()
