"""The folders with a `SKILL.md` below a folder, links followed, within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillroute_local.importing.content import SKILL_FILE
from skillroute_local.importing.model import Refuse, Unreadable

MAX_DEPTH = 8
"""Levels of folders that are looked through."""

MAX_FOLDERS = 20_000
"""Folders that are looked through."""

MAX_LINKED = 1_000
"""Folders behind one link that are looked through: one to `/` spoils nothing else."""

LEFT_OUT = frozenset({".git", ".venv", "node_modules", "__pycache__"})
"""Folders that hold no skills."""


@dataclass(slots=True)
class _Link:
    """A link that is followed, and how many folders behind it may still be looked at."""

    name: str
    left: int = MAX_LINKED
    is_refused: bool = False


class SkillFolders:
    """Finds the folders with a skill, each once. People keep skills elsewhere and link them.

    What cannot be looked at is refused, about something unknown: skills may be in it.

    Parameters
    ----------
    root : Path
    refuse : Refuse
    """

    def __init__(self, root: Path, refuse: Refuse) -> None:
        self._root = root
        self._refuse = refuse
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[Path]:
        """Yield the folders by name. Raises `Unreadable` where there are too many."""
        yield from self._below(self._root, 0, None)

    def _below(self, folder: Path, depth: int, link: _Link | None) -> Iterator[Path]:
        real = os.path.realpath(folder)
        if real in self._seen or not self._is_within(link):
            return
        self._seen.add(real)
        if len(self._seen) > MAX_FOLDERS:
            raise Unreadable(f"{self._root.name}/", f"has more than {MAX_FOLDERS} folders: name one that holds skills")
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._refuse(f"{self._named(folder)}/", f"cannot be looked through: {error.strerror}")
            return
        file = next((entry for entry in found if entry.name == SKILL_FILE and not _is_folder(entry)), None)
        if file is not None:  # what lies within a skill is its own
            if Path(file.path).is_file():
                yield folder
            else:
                self._refuse(self._named(folder / SKILL_FILE), "is not a file that can be read")
            return
        for entry in found:
            if not _is_folder(entry):
                self._require_target(entry, folder)
            elif depth < MAX_DEPTH and entry.name not in LEFT_OUT:
                inner = folder / entry.name
                is_first = link is None and entry.is_symlink()
                yield from self._below(inner, depth + 1, _Link(self._named(inner), MAX_LINKED) if is_first else link)

    def _is_within(self, link: _Link | None) -> bool:
        if link is None:
            return True
        link.left -= 1
        if link.left < 0 and not link.is_refused:
            link.is_refused = True
            self._refuse(f"{link.name}/", f"is a link to more than {MAX_LINKED} folders: link those that hold skills")
        return link.left >= 0

    def _require_target(self, entry: os.DirEntry[str], folder: Path) -> None:
        if entry.is_symlink() and not Path(entry.path).exists():
            self._refuse(self._named(folder / entry.name), "is a link that leads nowhere: mend or delete it")

    def _named(self, path: Path) -> str:
        return path.relative_to(self._root.parent).as_posix()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
