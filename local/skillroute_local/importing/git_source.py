"""Git repositories: the newest state of one, cloned into a temporary folder, and its Agent Skills."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path

from skillroute_local.errors import Misused
from skillroute_local.importing.agent_skills import keeping, read_root
from skillroute_local.importing.model import Choices, Reading, Refuse, Unreadable
from skillroute_local.terminal_text import harmless

CLONE_S = 600.0
"""Seconds that a clone may take."""

_PROTOCOLS = "file:https:ssh"
"""Others, such as `ext::`, run commands, or send without encryption."""

_ADDRESS = re.compile(r"(?:https|ssh|file)://\S+|\w[\w.-]*@\w[\w.-]*:\S+")
_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


class Clone:
    """A temporary folder with the newest state of a repository; it is deleted when nothing refers to this any more.

    Parameters
    ----------
    address : str
        A URL (``https://``, ``ssh://``, ``file://``, ``git@host:path``), or the path of a repository here.

    Attributes
    ----------
    root : Path
    links : list of str
        The symbolic links that were in it, by their paths below the root.

    Raises
    ------
    Misused
        It is none of these.
    Unreadable
        There is no `git` here, or it cannot clone it in time.
    """

    def __init__(self, address: str) -> None:
        if not _ADDRESS.fullmatch(address) and not Path(address).is_dir():
            raise Misused("--git: must be https://, ssh:// or file://, git@host:path, or the folder of a repository")
        program = shutil.which("git")
        if program is None:
            raise Unreadable("--git", "there is no git here: install it, or give the folder of a checkout")
        folder = Path(tempfile.mkdtemp(prefix="skillroute-import-")).resolve()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.root = folder / _name(address)
        _run([program, *_SAFELY, "clone", "--quiet", "--depth", "1", "--", _source(address), str(self.root)], address)
        self.links = [entry for entry in _links(program, self.root, address) if _removed(self.root / entry)]


def read_repository(address: str, choices: Choices, refuse: Refuse) -> Reading:
    """Return the Agent Skills of a repository."""
    clone = Clone(address)
    reading = read_root(clone.root, choices, refuse)
    partial = reading.partial or ("skills may be behind its links, which are left out" if clone.links else None)
    links = [f"{harmless(clone.root.name)}: left out: {link[:200]!r}: is a link" for link in clone.links]
    rows = keeping(clone, reading.rows)
    return replace(reading, rows=rows, partial=partial, left_out=[*links, *reading.left_out])


def shown(address: str) -> str:
    """Return an address without the password that it may have."""
    return harmless(_PASSWORD.sub("", address))


# Links become small files, so that none leads out before they are removed. Hooks and templates of this computer are not
# for strangers' code.
_SAFELY = ("-c", "core.symlinks=false", "-c", "core.hooksPath=/dev/null", "-c", "init.templateDir=")


# Hooks have these of the repository that they run in: a clone would put its files there.
_OF_ANOTHER = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"}
# The language of messages, of which one is chosen.
_ENV = {"GIT_ALLOW_PROTOCOL": _PROTOCOLS, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}


_LINK_MODE = b"120000 "


def _links(program: str, root: Path, address: str) -> list[str]:
    entries = _run([program, *_SAFELY, "-C", str(root), "ls-files", "--stage", "-z"], address).split(b"\0")
    return [os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry.startswith(_LINK_MODE)]


def _removed(link: Path) -> bool:
    """Remove what stands for a link: its text is where the link leads, which is no file of a skill."""
    link.unlink(missing_ok=True)
    return True


def _run(command: list[str], address: str) -> bytes:
    """Run git, and return what it writes."""
    env = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER} | _ENV
    try:
        done = subprocess.run(  # noqa: S603 (no shell, and what could be an option is refused)
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=CLONE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(shown(address), f"cannot be cloned in {CLONE_S:.0f} s") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git says nothing"]
        # Behind the reason some end with advice.
        why = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
        raise Unreadable(shown(address), f"cannot be cloned: {shown(why)}")
    return done.stdout


def _source(address: str) -> str:
    """Return the source as git takes it: of a folder the URL, since a clone of its path is never shallow."""
    return address if _ADDRESS.fullmatch(address) else Path(address).resolve().as_uri()


def _name(address: str) -> str:
    return re.split(r"[/:]", address.rstrip("/").removesuffix(".git").rstrip("/"))[-1] or "repository"
