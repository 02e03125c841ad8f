"""Agent Skills: folders with a `SKILL.md`, whose front matter has a name and a description. They become resources."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillroute_local.importing.content import SKILL_FILE, Content, Folder, read_bounded
from skillroute_local.importing.front_matter import read_front_matter
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, Unreadable
from skillroute_local.importing.skill_folders import LEFT_OUT, MAX_DEPTH, SkillFolders
from skillroute_local.importing.values import size_of

TAG = "agent-skill"
"""The tag of every resource that is an Agent Skill."""

MAX_SKILL_BYTES = 1024 * 1024
"""Of a SKILL.md. Its instructions are kept as far as `MAX_INSTRUCTIONS`."""

MAX_INSTRUCTIONS = 100_000
"""Bytes of the instructions that the catalogue keeps; an item has at most 256 KB."""

_MAX_FILES = 200
_FRONT_MATTER = "front matter: YAML with name and description between two ---"
_MAX_DESCRIPTION = 1_000  # of one that is taken from the instructions


def is_folder(content: Content) -> bool:
    """Return whether a source is a folder."""
    return isinstance(content, Folder)


def read_folder(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the skills of a folder: its own, or those of the folders in it.

    Unless another one is chosen, their `server` is the name of the folder that holds the skills' folders.
    """
    root = content.path.resolve()
    is_one = os.path.lexists(root / SKILL_FILE) and not (root / SKILL_FILE).is_dir()
    base = root.parent if is_one else root
    server = choices.server or base.name or "skills"
    rows = []
    notes: list[str] = []
    left_out: list[str] = []
    is_empty = True
    for folder in [root] if is_one else SkillFolders(root, refuse):
        where, is_empty = f"{folder.relative_to(base.parent).as_posix()}/{SKILL_FILE}", False
        try:
            skill = _read(folder, where)
            value = _resource(skill, folder, server)
        except Unreadable as error:
            # Nobody knows its name: that of its folder may be another one.
            refuse(error.where, error.reason)
        else:
            rows.append(Row("items", where, value, size_of(value)))
            notes += [f"{where}: {note}" for note in skill.notes]
            if "instructions_cut" in value["metadata"]:
                left_out.append(f"{where}: left out: what its instructions have beyond {MAX_INSTRUCTIONS:,} bytes")
    if is_empty:
        refuse(f"{root.name}/", f"there is no {SKILL_FILE} in it, nor in its folders to a depth of {MAX_DEPTH}")
    scopes = () if is_one else (Scope(server, "resource", TAG),)
    return Reading(
        "items",
        rows,
        sum(row.size for row in rows),
        scopes=scopes,
        partial="it is one skill" if is_one else None,
        notes=notes,
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class _Skill:
    name: str
    description: str
    instructions: str
    front: dict[str, Any]
    notes: list[str]


def _read(folder: Path, where: str) -> _Skill:
    """Return what a SKILL.md says. Raises `Unreadable` with the line, or the field of the front matter.

    As Claude Code has it, the folder's name stands in for a name, and the first paragraph for a description.
    """
    try:
        text = read_bounded(folder / SKILL_FILE, MAX_SKILL_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(where, f"is not UTF-8: {error.reason} at byte {error.start}") from None
    except Unreadable as error:
        raise Unreadable(where, error.reason) from None
    front, instructions, problem = _parts(text, where)
    notes = [f"its front matter is not YAML, and was read line by line: {problem}"] if problem else []
    texts: dict[str, str] = {}
    for field, otherwise, source in (
        ("name", folder.name, "that of its folder"),
        ("description", _first_paragraph(instructions), "the first paragraph"),
    ):
        texts[field] = _text(front, field, where) or otherwise
        if not texts[field]:
            at = f"{where}:1" if not front else where
            missing = f"{field}: must be a text in the front matter"
            raise Unreadable(at, missing if front else f"must begin with {_FRONT_MATTER}")
        if not _text(front, field, where):
            notes.append(f"its front matter has no {field}: {source} is taken")
    return _Skill(texts["name"], texts["description"], instructions, front, notes)


def _resource(skill: _Skill, folder: Path, server: str) -> dict[str, Any]:
    """Return a skill as a resource."""
    name, description, instructions, front = skill.name, skill.description, skill.instructions, skill.front
    kept = instructions.encode()[:MAX_INSTRUCTIONS].decode(errors="ignore")
    metadata: dict[str, Any] = {
        "uri": f"skill://{name}/{SKILL_FILE}",
        "mimeType": "text/markdown",
        "instructions": kept,
        "files": _files(folder),
    }
    for key, value in front.items():
        if key not in {"name", "description"} and value is not None:
            metadata.setdefault(key.replace("-", "_"), value)
    if kept != instructions:
        metadata["instructions_cut"] = True
    return {
        "type": "resource",
        "server": server,
        "name": name,
        "description": description,
        "tags": [TAG],
        "metadata": metadata,
    }


def _parts(text: str, where: str) -> tuple[dict[str, Any], str, str | None]:
    """Return the front matter, what follows it, and why the one is no YAML where it is none."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return {}, text.strip(), None
    end = next((place for place, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise Unreadable(f"{where}:1", f"must begin with {_FRONT_MATTER}")
    front, problem = read_front_matter("".join(lines[1:end]), where)
    return front, "".join(lines[end + 1 :]).strip(), problem


def _text(front: dict[str, Any], field: str, where: str) -> str:
    """Return a text of the front matter, empty where it has none. Raises `Unreadable` where it is something else."""
    value = front.get(field)
    if isinstance(value, list | dict):
        raise Unreadable(where, f"{field}: must be a text in the front matter")
    return "" if value is None else str(value).strip()


def _first_paragraph(instructions: str) -> str:
    """Return the first text of the instructions that is no heading."""
    for paragraph in re.split(r"\n\s*\n", instructions):
        text = " ".join(line.strip() for line in paragraph.splitlines() if not line.startswith("#")).strip()
        if text:
            return text[:_MAX_DESCRIPTION]
    return ""


def _files(folder: Path) -> list[str]:
    """Return what else is in a skill's folder, as paths within it."""
    found: list[str] = []
    for current, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        found += [(Path(current) / name).relative_to(folder).as_posix() for name in sorted(files)]
        if len(found) > _MAX_FILES:
            break
    return [name for name in found if name != SKILL_FILE][:_MAX_FILES]
