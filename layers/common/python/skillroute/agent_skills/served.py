"""Agent Skills as agents are served them: active ones, each path once, with the files of the skills within them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from skillroute.agent_skills.model import SKILL_MD, SkillFile
from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database

MAX_SERVED_FILES = 512
MAX_SERVED_BYTES = 16 * 1024 * 1024
"""Of a skill and those within it: what every host takes (MCP Skills extension, "Limits")."""


class ServedSkill(NamedTuple):
    """An Agent Skill with all files at and below its path.

    Attributes
    ----------
    files : tuple of SkillFile
        Their paths begin with the skill's.
    """

    path: str
    frontmatter: Mapping[str, Any]
    files: tuple[SkillFile, ...]

    @property
    def is_within_limits(self) -> bool:
        """Whether every host takes it. One alone always is; skills within it can make it larger."""
        return len(self.files) <= MAX_SERVED_FILES and sum(file.size for file in self.files) <= MAX_SERVED_BYTES


class ServedFile(NamedTuple):
    """A file with its bytes as they came."""

    mime_type: str
    content: bytes


class Child(NamedTuple):
    """A file or a directory within a directory.

    Attributes
    ----------
    description : str or None
        That of the skill, where it is the `SKILL.md` of one.
    """

    name: str
    is_directory: bool
    mime_type: str
    size: int
    description: str | None


class ServedAgentSkills:
    """Reads what a caller is served. An organisation's own skill hides the global one of the same path."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def has_any(self, caller: Caller) -> bool:
        """Return whether there is a skill at all. Raises `DatabaseUnavailable`."""
        return bool(self._run("any_agent_skill", caller)[0][0])

    def page(self, caller: Caller, *, after: str | None, limit: int) -> list[ServedSkill]:
        """Return the skills behind a path, in the order of their paths."""
        return self._skills(caller, path=None, after=after, limit=limit)

    def get(self, path: str, caller: Caller) -> ServedSkill | None:
        """Return the skill of a path; None where the caller is served none."""
        return next(iter(self._skills(caller, path=path, after=None, limit=1)), None)

    def file(self, place: str, caller: Caller) -> ServedFile | None:
        """Return the file at a place, the path of its skill and its own; None where the caller is served none."""
        segments = place.split("/")
        cuts = range(1, len(segments))
        rows = self._run(
            "served_agent_skill_file",
            caller,
            paths=["/".join(segments[:cut]) for cut in cuts],
            files=["/".join(segments[cut:]) for cut in cuts],
        )
        return ServedFile(rows[0][0], bytes(rows[0][1])) if rows else None

    def children(self, directory: str, caller: Caller, *, limit: int, offset: int) -> list[Child]:
        """Return what is directly within a directory; nothing where the caller is served no such directory."""
        segments = directory.split("/")
        paths = ["/".join(segments[:length]) for length in range(1, len(segments) + 1)]
        about = {"directory": directory, "paths": paths, "limit": limit, "offset": offset}
        return [Child(*row) for row in self._run("served_agent_skill_directory", caller, **about)]

    def _skills(self, caller: Caller, **which: Any) -> list[ServedSkill]:
        rows = self._run("served_agent_skills", caller, **which)
        return [
            ServedSkill(path, frontmatter, tuple(SkillFile(*file) for file in files))
            for path, frontmatter, files in rows
        ]

    def _run(self, statement: str, caller: Caller, **params: Any) -> Any:
        return self._database.read(lambda session: session.run(statement, org_id=caller.org_id, **params))


def skill_path_of(place: str) -> str | None:
    """Return the path of the skill whose `SKILL.md` is at a place; None where it is another file.

    Examples
    --------
    >>> skill_path_of(f"acme/refunds/{SKILL_MD}"), skill_path_of("acme/refunds/notes.txt")
    ('acme/refunds', None)
    """
    path, _, name = place.rpartition("/")
    return path if path and name == SKILL_MD else None
