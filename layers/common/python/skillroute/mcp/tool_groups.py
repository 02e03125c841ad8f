"""Groups of tools as resources: the purpose of a group and its tools, to be read into a conversation.

The API calls them skills; to MCP, whose skills are Agent Skills, they are tool groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.errors.model import NotFound
from skillroute.mcp.fit import Json
from skillroute.mcp.pages import PAGE, next_cursor, offset_of
from skillroute.mcp.resource_templates import TYPE
from skillroute.mcp.revisions import Revision, titled
from skillroute.skills.model import Skill, SkillFilter, SkillMember
from skillroute.skills.read import ReadSkills

SCHEME = "tool-group://"

_URI = re.compile(rf"{SCHEME}([a-z][a-z0-9_]{{0,63}})")
_MAX_TOOLS = 100


class ToolGroups:
    """Lists and reads groups of tools."""

    def __init__(self, skills: ReadSkills) -> None:
        self._skills = skills

    def page(self, params: Mapping[str, Any], caller: Caller, revision: Revision) -> Json:
        """Answer `resources/list`: the active groups, by name."""
        offset = offset_of(params)
        found, total = self._skills.page(SkillFilter(is_active=True), caller, limit=PAGE, offset=offset)
        return {"resources": [_listed(skill, revision) for skill in found], **next_cursor(offset + PAGE, total)}

    def read(self, uri: str, caller: Caller) -> Json | None:
        """Return the contents that `resources/read` answers with; None where no active group has the URI."""
        known = _URI.fullmatch(uri)
        if known is None:
            return None
        try:
            skill = self._skills.get(known[1], caller)
            tools, total = self._skills.tools(known[1], caller, limit=_MAX_TOOLS, offset=0)
        except NotFound:
            return None
        return {"uri": uri, "mimeType": TYPE, "text": _text(skill, tools, total)} if skill.is_active else None


def _listed(skill: Skill, revision: Revision) -> Json:
    return {
        "uri": f"{SCHEME}{skill.id}",
        "name": skill.id,
        **titled(revision, skill.name),
        "description": skill.description,
        "mimeType": TYPE,
    }


def _text(skill: Skill, tools: list[SkillMember], total: int) -> str:
    lines = [f"# {skill.name}", "", skill.description, ""]
    lines += [f"{total} tools, by id; get_tool_details has their schemas:" if total else "It has no tools yet.", ""]
    lines += [
        f"- {tool.tool_id}: {tool.tool_name}{f' of {tool.server}' if tool.server else ''}"
        f"{'' if tool.type == 'tool' else f' ({tool.type})'}"
        for tool in tools
    ]
    if total > len(tools):
        lines.append(f"- and {total - len(tools)} more, which search_tools finds")
    return "\n".join(lines)
