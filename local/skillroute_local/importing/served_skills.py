"""Agent Skills that an MCP server serves, as rows: below the server's name, and as their files say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillroute.agent_skills.model import SKILL_MD

from skillroute_local.importing.agent_skills import skill_path
from skillroute_local.importing.model import Refuse, Row, SkillPath, Unreadable
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.skill_files import file_value
from skillroute_local.importing.skill_text import read_skill_text
from skillroute_local.importing.values import size_of
from skillroute_local.mcp_servers.model import ServedSkill


def skill_rows(
    skills: Sequence[ServedSkill], server: str, base: str, refuse: Refuse
) -> Iterator[tuple[Row, list[str]]]:
    """Yield the skills with what was left out of each.

    One whose front matter is another than the server says is refused, as the extension wants it: a user who approved
    the one must not get the other.
    """
    for skill in skills:
        where = pointer(pointer(base, server), skill.uri)
        path = skill_path(server, *skill.path.split("/"))
        try:
            text = read_skill_text(skill.files.get(SKILL_MD, b""), skill.path.rpartition("/")[2], where)
            if text.front != skill.frontmatter:
                raise Unreadable(where, "the front matter of its SKILL.md is another than the server says")
        except Unreadable as error:
            refuse(error.where, error.reason, SkillPath(path))
            continue
        files = [file_value(name, content) for name, content in skill.files.items()]
        value = {"path": path, "frontmatter": text.front, "files": files}
        left_out = [f"{where}: {reason}" for reason in skill.left_out]
        yield Row("agent_skills", where, value, size_of(value)), left_out
