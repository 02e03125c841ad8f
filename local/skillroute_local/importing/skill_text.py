"""`SKILL.md` as its author wrote it: the front matter as JSON, and what stands in where it lacks something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from skillroute.agent_skills.schemas import MAX_NAME, is_skill_name

from skillroute_local.importing.front_matter import read_front_matter
from skillroute_local.importing.model import Unreadable

_FRONT_MATTER = "front matter: YAML with name and description between two ---"
_MAX_DESCRIPTION = 1_000  # of one that is taken from the instructions
_NO_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class SkillText:
    """The front matter of a `SKILL.md`.

    Attributes
    ----------
    name : str
        As the specification of Agent Skills has names.
    front : dict
        All fields as they were written, but for a name or a description that another one stands in for.
    notes : list of str
        What is other than in the file, and why.
    """

    name: str
    front: dict[str, Any]
    notes: list[str]


def read_skill_text(content: bytes, folder: str, where: str) -> SkillText:
    """Return what the front matter of a `SKILL.md` says.

    As in Claude Code, the folder's name stands in for a name that is missing, and the first paragraph for a
    description. A name that the specification does not allow gives way to the folder's, which should be the same.

    Raises
    ------
    Unreadable
        With the line, or the field of the front matter.
    """
    front, instructions, problem = _parts(_decoded(content, where), where)
    notes = [f"its front matter is not YAML, and was read line by line: {problem}"] if problem else []
    given = _text(front, "name", where)
    name = given if is_skill_name(given) else _name_like(folder) or _name_like(given)
    if not name:
        raise Unreadable(where, "name: must be small letters, digits and single hyphens, such as pdf-processing")
    if not given:
        notes.append("its front matter has no name: that of its folder is taken")
    elif name != given:
        notes.append(f"its name {given[:MAX_NAME]!r} is none that Agent Skills can have: {name} is taken")
    elif folder != name:
        notes.append(f"its folder {folder} is called otherwise than the skill, {name}: its path ends in the name")
    description = _text(front, "description", where)
    if not description:
        description = _first_paragraph(instructions)
        if not description:
            raise Unreadable(where, "description: must be a text in the front matter")
        notes.append("its front matter has no description: the first paragraph is taken")
        front = {**front, "description": description}
    elif not isinstance(front["description"], str):
        front = {**front, "description": description}
    return SkillText(name, front if front.get("name") == name else {**front, "name": name}, notes)


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(where, f"is not UTF-8: {error.reason} at byte {error.start}") from None


def _parts(text: str, where: str) -> tuple[dict[str, Any], str, str | None]:
    """Return the front matter, what follows it, and why the one is no YAML where it is none."""
    lines = text.split("\n")  # as the service does it: other characters that end a line may stand in a text
    end = next((place for place, line in enumerate(lines[1:], 1) if _is_mark(line)), None)
    if not _is_mark(lines[0]) or end is None:
        raise Unreadable(f"{where}:1", f"must begin with {_FRONT_MATTER}")
    front, problem = read_front_matter("\n".join(lines[1:end]), where)
    return front, "\n".join(lines[end + 1 :]).strip(), problem


def _is_mark(line: str) -> bool:
    return line.rstrip(" \t\r") == "---"


def _text(front: dict[str, Any], field: str, where: str) -> str:
    """Return a text of the front matter, empty where it has none. Raises `Unreadable` where it is something else."""
    value = front.get(field)
    if isinstance(value, list | dict):
        raise Unreadable(where, f"{field}: must be a text in the front matter")
    return "" if value is None else str(value).strip()


def _name_like(text: str) -> str:
    """Return the name nearest to a text; empty where there is none."""
    return _NO_NAME.sub("-", text.lower())[:MAX_NAME].strip("-")


def _first_paragraph(instructions: str) -> str:
    """Return the first text of the instructions that is no heading."""
    for paragraph in re.split(r"\n\s*\n", instructions):
        text = " ".join(line.strip() for line in paragraph.splitlines() if not line.startswith("#")).strip()
        if text:
            return text[:_MAX_DESCRIPTION]
    return ""
