"""Agent Skills: folders of files with a `SKILL.md` (agentskills.io/specification).

Not the skills of `skillroute.skills`, which are groups of tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from skillroute.core.bulk.versions import version_of
from skillroute.core.hashing import COMPARED_APART

SKILL_MD = "SKILL.md"
"""The path of the file that every Agent Skill has."""


class SkillFile(NamedTuple):
    """A file within a folder, without its content.

    Attributes
    ----------
    path : str
        Relative to the folder, with slashes.
    size : int
        Bytes.
    digest : str
        ``sha256:`` and the hexadecimal SHA-256 of the bytes.
    """

    path: str
    size: int
    digest: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class AgentSkillContent:
    """The content of an Agent Skill as its owner wrote it: everything that counts for whether it changed.

    Attributes
    ----------
    path : str
        Its place in its source, unique within its organisation: ``acme/billing/refunds``. The last segment is its name.
    frontmatter : mapping
        Of `SKILL.md`, all of it, as JSON.
    files : tuple of SkillFile
        All files, `SKILL.md` among them, by path.
    contents : mapping of str to bytes
        By digest.
    """

    path: str
    frontmatter: Mapping[str, Any]
    files: tuple[SkillFile, ...]
    contents: Mapping[str, bytes] = field(default_factory=dict, metadata={COMPARED_APART: True})

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """An Agent Skill as it is stored, without the contents of its files.

    Attributes
    ----------
    description : str
        That of the front matter, without invisible characters.
    is_active : bool
        Whether searches find it.
    is_embedded : bool
        Whether all its pieces have a vector.
    """

    id: int
    org_id: str | None
    path: str
    name: str
    description: str
    frontmatter: Mapping[str, Any]
    files: tuple[SkillFile, ...]
    is_active: bool
    is_embedded: bool
    content_hash: str
    created_at: datetime
    updated_at: datetime

    @property
    def version(self) -> str:
        """The version of its content, and of whether it is switched on."""
        return version_of(self.updated_at, self.content_hash)


@dataclass(frozen=True, slots=True)
class AgentSkillFilter:
    """Which Agent Skills a listing shows. None means no condition."""

    path: str | None = None
    name: str | None = None
    is_active: bool | None = None
