"""The files of an Agent Skill's folder: those that the catalogue has room for, and why others are left out."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillroute.agent_skills.schemas import MAX_FILE_BYTES, MAX_FILES, MAX_PATH, MAX_SKILL_BYTES, path_problem

from skillroute_local.importing.content import SKILL_FILE, read_bounded
from skillroute_local.importing.skill_folders import LEFT_OUT

MAX_LOOKED_AT = 5_000
"""Files of a folder that are looked at."""

_NAMED = 3  # of those that are left out for one reason


@dataclass(slots=True)
class Room:
    """Which files of a skill the catalogue has room for, asked one after the other; `SKILL.md` is one of them.

    Attributes
    ----------
    sizes : dict of str to int
        Of those that it has room for, by path.
    left_out : dict of str to list of str
        The others, by reason.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def take(self, path: str, size: int) -> bool:
        """Return whether there is room for a file, and note it."""
        if why := self._problem(path, size):
            self.leave_out(path, why)
            return False
        self.sizes[path] = size
        return True

    def leave_out(self, path: str, why: str) -> None:
        """Note a file that is left out."""
        self.left_out.setdefault(why, []).append(path)

    def reasons(self) -> list[str]:
        """Return what is left out and why, a line for each reason."""
        return [f"left out: {_named(paths)}: {why}" for why, paths in self.left_out.items()]

    def _problem(self, path: str, size: int) -> str | None:
        if size > MAX_FILE_BYTES:
            return f"a file may have {MAX_FILE_BYTES >> 20} MB"
        if len(self.sizes) >= MAX_FILES:
            return f"a skill may have {MAX_FILES} files"
        if sum(self.sizes.values()) + size > MAX_SKILL_BYTES:
            return f"the files of a skill may have {MAX_SKILL_BYTES >> 20} MB together"
        if len(path) > MAX_PATH:
            return f"a path may have {MAX_PATH} characters"
        return path_problem(path)


def files_of(folder: Path, root: Path, skill_md_size: int) -> Room:
    """Return which files of a skill's folder there is room for, `SKILL.md` first and the others by path.

    Parameters
    ----------
    root : Path
        The folder that was named as the source: a link is read where it leads to a file in it, or in the skill.
    """
    room = Room()
    room.take(SKILL_FILE, skill_md_size)
    within = [folder.resolve(), root.resolve()]
    for nth, (path, name) in enumerate(_walked(folder, room)):
        if nth >= MAX_LOOKED_AT:
            room.leave_out(name, f"only {MAX_LOOKED_AT} files of a folder are looked at, and this is the next one")
            break
        if name == SKILL_FILE:
            continue
        real = path.resolve()
        if path.is_symlink() and not any(map(real.is_relative_to, within)):
            room.leave_out(name, "a link out of the folder that is imported is not followed")
        elif not path.is_file():
            room.leave_out(name, "is not a file that can be read")
        else:
            room.take(name, path.stat().st_size)
    return room


def read_files(folder: Path, room: Room, skill_md: bytes) -> Iterator[dict[str, Any]]:
    """Yield the files that there is room for as `PUT /api/v1/agent-skills` takes them.

    Raises `Unreadable` where one has grown meanwhile, or is gone.
    """
    for path in room.sizes:
        yield file_value(path, skill_md if path == SKILL_FILE else read_bounded(folder / path, MAX_FILE_BYTES))


def file_value(path: str, content: bytes) -> dict[str, Any]:
    """Return a file as the route takes it: as text where that is its bytes and no longer than base64."""
    in_base64 = base64.b64encode(content).decode()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"path": path, "base64": in_base64}
    is_short = "\0" not in text and len(json.dumps(text)) <= len(in_base64) + len('""')
    return {"path": path, "text": text} if is_short else {"path": path, "base64": in_base64}


def _walked(folder: Path, room: Room) -> Iterator[tuple[Path, str]]:
    """Yield the files below a folder with their paths within it; folders that links lead to are left out."""
    for current, folders, files in os.walk(folder):
        kept = []
        for name in sorted(set(folders) - LEFT_OUT):
            path = Path(current) / name
            if path.is_symlink():
                room.leave_out(path.relative_to(folder).as_posix(), "a link to a folder is not followed in a skill")
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = Path(current) / name
            yield path, path.relative_to(folder).as_posix()


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(path.encode("utf-8", "replace").decode() for path in paths[:_NAMED]) + more
