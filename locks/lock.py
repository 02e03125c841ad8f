"""Resolve what is installed for running, testing and measuring, and write a lock for each environment: `make lock`.

    python locks/lock.py                 # keeps every version that the ranges still allow
    python locks/lock.py --upgrade       # takes the newest that they allow

A lock is the whole closure with the hashes of all files, for every Python and system, as uv resolves it. Addresses are
left out: each machine takes the files from its own index, and gets the same bytes. The tests' lock comes first
and holds those of running, of the console and the layers: what they share is of one version. The others are of programs
that are not ours, and of agent frameworks, and stand alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).parent
ROOT = LOCKS.parent
TESTS = "locks/dev.lock"
LOCKED: dict[str, list[str]] = {
    "dev": ["pyproject.toml", "--extra", "dev", "locks/build.in"],
    "run": ["pyproject.toml", "--extra", "local", "locks/build.in", "--constraint", TESTS],
    "console": ["pyproject.toml", "--extra", "console-test", "--constraint", TESTS],
    # Agent frameworks ask for other versions than the tests run with, such as an older mcp.
    "adapters": ["clients/python/pyproject.toml", "--extra", "adapters-test", "locks/build.in"],
    "mcp-1": ["locks/mcp-1.in"],
    "peers": ["locks/peers.in"],
    "registry-servers": ["locks/registry-servers.in"],
    "sam": ["locks/sam.in"],
}
"""What each lock is of, in the order in which they are resolved."""

# The packages of this repository are installed from it.
OURS = [argument for name in ("skillroute", "skillroute-client") for argument in ("--no-emit-package", name)]
OPTIONS = ["--universal", "--python-version", "3.11", "--generate-hashes", "--annotation-style", "line"]
UNWRITTEN = ["--no-emit-index-url", "--no-emit-find-links", "--custom-compile-command", "make lock"]


def main() -> None:
    """Write a lock for each environment, then those of the layers and of npm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that the ranges allow")
    upgrade = ["--upgrade"] if parser.parse_args().upgrade else []
    compile_ = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *OPTIONS, *UNWRITTEN, *OURS, *upgrade]
    for name, sources in LOCKED.items():
        print(f"locks/{name}.lock", flush=True)
        # Without --upgrade, uv keeps what it finds in the file that it is about to write.
        subprocess.run([*compile_, *sources, "--output-file", f"locks/{name}.lock"], cwd=ROOT, check=True)
    print("layers/requirements.lock", flush=True)
    subprocess.run([sys.executable, "layers/lock.py", *upgrade], cwd=ROOT, check=True)
    lock_npm(renew=bool(upgrade))


def lock_npm(*, renew: bool) -> None:
    """Write the lock of npm's tools, with integrity hashes and without addresses."""
    print("locks/npm/package-lock.json", flush=True)
    if renew:
        (LOCKS / "npm" / "package-lock.json").unlink(missing_ok=True)
    options = [
        "--package-lock-only",
        "--omit-lockfile-registry-resolved",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]
    try:
        subprocess.run(["npm", "install", "--silent", *options], cwd=LOCKS / "npm", check=True)
    except FileNotFoundError:
        sys.exit("npm is not there (Debian: apt-get install npm), so locks/npm/package-lock.json is as it was")


if __name__ == "__main__":
    main()
