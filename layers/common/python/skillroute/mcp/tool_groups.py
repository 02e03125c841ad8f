"""Skills as resources: what a skill is for and which tools it has, to be read into a conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import NotFound
from skillroute.mcp.fit import Json
from skillroute.mcp.pages import PAGE, next_cursor, offset_of
from skillroute.mcp.resource_templates import TYPE
from skillroute.mcp.revisions import STATELESS, Revision, titled
from skillroute.mcp.rpc import INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError, quoted
from skillroute.skills.model import Skill, SkillFilter, SkillMember
from skillroute.skills.read import ReadSkills

_URI = re.compile(r"skill://([a-z][a-z0-9_]{0,63})")
_MAX_TOOLS = 100


class SkillResources:
    """Lists and reads skills."""

    def __init__(self, skills: ReadSkills) -> None:
        self._skills = skills

    def page(self, params: Mapping[str, Any], caller: Caller, revision: Revision) -> Json:
        """Answer `resources/list`: the active skills, by name."""
        offset = offset_of(params)
        found, total = self._skills.page(SkillFilter(is_active=True), caller, limit=PAGE, offset=offset)
        return {"resources": [_listed(skill, revision) for skill in found], **next_cursor(offset + PAGE, total)}

    def read(self, params: Mapping[str, Any], caller: Caller, revision: Revision) -> Json:
        """Answer `resources/read`.

        Raises
        ------
        RpcError
            No active skill has the URI.
        """
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "params.uri must be the URI of a resource")
        known = _URI.fullmatch(uri)
        try:
            if known is None:
                raise NotFound("no skill has such an id", ErrorCode.SKILL_NOT_FOUND)
            skill = self._skills.get(known[1], caller)
            tools, total = self._skills.tools(known[1], caller, limit=_MAX_TOOLS, offset=0)
        except NotFound:
            skill = None
        if skill is None or not skill.is_active:
            code = INVALID_PARAMS if revision == STATELESS else RESOURCE_NOT_FOUND
            raise RpcError(code, f"there is no resource {quoted(uri)}; resources/list has those that there are")
        return {"contents": [{"uri": uri, "mimeType": TYPE, "text": _text(skill, tools, total)}]}


def _listed(skill: Skill, revision: Revision) -> Json:
    return {
        "uri": f"skill://{skill.id}",
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
