"""Agent Skills: folders with a `SKILL.md`, with all their files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillroute.agent_skills.schemas import MAX_FILE_BYTES

from skillroute_local.importing.archives import Unpacked
from skillroute_local.importing.content import SKILL_FILE, Archive, Content, Folder, read_bounded
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, SkillPath, Unreadable
from skillroute_local.importing.skill_files import Room, files_of, read_files
from skillroute_local.importing.skill_folders import MAX_DEPTH, SkillFolders
from skillroute_local.importing.skill_text import SkillText, read_skill_text
from skillroute_local.importing.values import size_of

FORMER_TAG = "agent-skill"
"""The tag of the resources as which former imports wrote Agent Skills."""

_NO_SEGMENT = re.compile(r"[^A-Za-z0-9._~-]+")


def is_folder(content: Content) -> bool:
    """Return whether a source is a folder, or an archive of one."""
    return isinstance(content, Folder | Archive)


def read_folder(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the skills of a folder: its own, or those of the folders in it; files are read as they are asked for."""
    if isinstance(content, Archive):
        unpacked = Unpacked(content.path)
        reading = read_root(unpacked.root, choices, refuse)
        rows = keeping(unpacked, reading.rows)
        partial = reading.partial or (
            "skills may be behind its links, which are left out" if unpacked.left_out else None
        )
        left_out = [*unpacked.left_out, *reading.left_out]
        return replace(reading, rows=rows, former=None, partial=partial, left_out=left_out)
    return read_root(content.path.resolve(), choices, refuse)


def read_root(root: Path, choices: Choices, refuse: Refuse) -> Reading:
    """Return the skills of a folder. The path of each is its place below it, behind the server that is chosen."""
    is_one = os.path.lexists(root / SKILL_FILE) and not (root / SKILL_FILE).is_dir()
    base = root.parent if is_one else root
    found: list[_Found] = []
    is_empty = True
    for folder in [root] if is_one else SkillFolders(root, refuse):
        where, is_empty = f"{folder.relative_to(base.parent).as_posix()}/{SKILL_FILE}", False
        try:
            found.append(_read(folder, root, where, skill_path(choices.server, *folder.relative_to(base).parts[:-1])))
        except Unreadable as error:
            # Nobody knows its name: that of its folder may be another one.
            refuse(error.where if error.where.startswith(where) else where, error.reason)
    if is_empty:
        refuse(f"{root.name}/", f"there is no {SKILL_FILE} in it, nor in its folders to a depth of {MAX_DEPTH}")
    return Reading(
        "agent_skills",
        _rows(found, refuse),
        sum(sum(skill.room.sizes.values()) for skill in found),
        partial="it is one skill" if is_one else None,
        below=skill_path(choices.server) if choices.server else None,
        former=Scope(choices.server or base.name or "skills", "resource", FORMER_TAG),
        notes=[f"{skill.where}: {note}" for skill in found for note in skill.text.notes],
        left_out=[f"{skill.where}: {reason}" for skill in found for reason in skill.room.reasons()],
    )


def keeping(kept: object, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows whose files are in a folder that is there as long as an object is."""
    yield from rows
    del kept


def skill_path(*names: str | None) -> str:
    """Return names as the path of Agent Skills has them, the first in small letters; empty where there are none."""
    first, *others = [_NO_SEGMENT.sub("-", name).strip("-") or "-" for name in names if name] or [""]
    return "/".join((first.lower(), *others))


@dataclass(frozen=True, slots=True)
class _Found:
    """A skill that was found, its other files not read yet."""

    folder: Path
    where: str
    path: str
    content: bytes
    text: SkillText
    room: Room

    def value(self) -> dict[str, Any]:
        """Read its files, and return it as the route takes it. Raises `Unreadable`."""
        files = list(read_files(self.folder, self.room, self.content))
        return {"path": self.path, "frontmatter": self.text.front, "files": files}


def _read(folder: Path, root: Path, where: str, above: str) -> _Found:
    """Return the skill of a folder. Raises `Unreadable` with the line, or the field of the front matter."""
    content = read_bounded(folder / SKILL_FILE, MAX_FILE_BYTES)
    text = read_skill_text(content, folder.name, where)
    path = f"{above}/{text.name}" if above else text.name
    return _Found(folder, where, path, content, text, files_of(folder, root, len(content)))


def _rows(found: Sequence[_Found], refuse: Refuse) -> Iterator[Row]:
    for skill in found:
        try:
            value = skill.value()
        except Unreadable as error:  # changed since it was looked at
            refuse(skill.where, str(error), SkillPath(skill.path))
        else:
            yield Row("agent_skills", skill.where, value, size_of(value))
