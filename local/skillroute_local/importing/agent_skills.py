"""Agent Skills: folders with a `SKILL.md`, whose front matter has a name and a description. They become resources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from skillroute_local.importing.content import SKILL_FILE, Content, Folder, read_bounded
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, Unreadable
from skillroute_local.importing.skill_folders import LEFT_OUT, MAX_DEPTH, SkillFolders
from skillroute_local.importing.values import size_of
from skillroute_local.importing.yaml_text import load_yaml

TAG = "agent-skill"
"""The tag of every resource that is an Agent Skill."""

MAX_SKILL_BYTES = 1024 * 1024
"""Of a SKILL.md. Its instructions are kept as far as `MAX_INSTRUCTIONS`."""

MAX_INSTRUCTIONS = 100_000
"""Bytes of the instructions that the catalogue keeps; an item has at most 256 KB."""

_MAX_FILES = 200
_KEPT = ("license", "compatibility", "allowed-tools", "metadata", "version")


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
    for folder in [root] if is_one else SkillFolders(root, refuse):
        where = f"{folder.relative_to(base.parent).as_posix()}/{SKILL_FILE}"
        try:
            value = _resource(folder, where, server)
        except Unreadable as error:
            # Nobody knows its name: that of its folder may be another one.
            refuse(error.where, error.reason)
        else:
            rows.append(Row("items", where, value, size_of(value)))
    if not rows and not is_one:
        refuse(f"{content.path.name}/", f"there is no {SKILL_FILE} in it, nor in its folders to a depth of {MAX_DEPTH}")
    scopes = () if is_one else (Scope(server, "resource", TAG),)
    return Reading(
        "items", rows, sum(row.size for row in rows), scopes=scopes, partial="it is one skill" if is_one else None
    )


def _resource(folder: Path, where: str, server: str) -> dict[str, Any]:
    """Return a skill as a resource. Raises `Unreadable` with the line, or the field of the front matter."""
    try:
        text = read_bounded(folder / SKILL_FILE, MAX_SKILL_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(where, f"is not UTF-8: {error.reason} at byte {error.start}") from None
    except Unreadable as error:
        raise Unreadable(where, error.reason) from None
    front, instructions = _parts(text, where)
    name, description = _text(front, "name", where), _text(front, "description", where)
    kept = instructions.encode()[:MAX_INSTRUCTIONS].decode(errors="ignore")
    metadata: dict[str, Any] = {
        "uri": f"skill://{name}/{SKILL_FILE}",
        "mimeType": "text/markdown",
        "instructions": kept,
        "files": _files(folder),
        **{key.replace("-", "_"): front[key] for key in _KEPT if front.get(key) is not None},
    }
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


def _parts(text: str, where: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and what follows it."""
    lines = text.splitlines(keepends=True)
    end = next((place for place, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if not lines or lines[0].rstrip() != "---" or end is None:
        raise Unreadable(f"{where}:1", "must begin with front matter: YAML with name and description between two ---")
    try:
        front = load_yaml("".join(lines[1:end]), where, first_line=2)
    except Unreadable as error:
        raise Unreadable(error.where, f"{error.reason}; a text with a colon in it needs quotes") from None
    if not isinstance(front, dict):
        raise Unreadable(f"{where}:2", "the front matter must have name and description")
    return front, "".join(lines[end + 1 :]).strip()


def _text(front: dict[str, Any], field: str, where: str) -> str:
    value = front.get(field)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(where, f"{field}: must be a text in the front matter")
    return value.strip()


def _files(folder: Path) -> list[str]:
    """Return what else is in a skill's folder, as paths within it."""
    found: list[str] = []
    for current, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        found += [(Path(current) / name).relative_to(folder).as_posix() for name in sorted(files)]
        if len(found) > _MAX_FILES:
            break
    return [name for name in found if name != SKILL_FILE][:_MAX_FILES]
