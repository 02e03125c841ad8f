"""`list_skills`: what the catalogue is about, as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from skillroute.core.input.json_schema import INTEGER, STRING, described, list_of, object_of
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json
from skillroute.mcp.shown import brief
from skillroute.mcp.tool import Asked, Tool
from skillroute.skills.read import ReadSkills

_DESCRIPTION = """\
List the skills of the catalogue, those with the most tools first: named groups of tools that serve one purpose. Call \
it to see what can be done here at all, or when search_tools finds nothing; for a task call search_tools at once."""

_SKILL = object_of({"id": STRING, "name": STRING, "description": STRING, "tool_count": INTEGER})
_OUTPUT = object_of({"skills": list_of(_SKILL), "total": described(INTEGER, "Of all pages.")})


class ListSkillsArguments(Arguments):
    """The arguments of `list_skills`."""

    limit: int = Field(30, ge=1, le=200, description="How many at most.")
    offset: int = Field(0, ge=0, le=10_000, description="How many to pass over.")


def list_skills(skills: ReadSkills) -> Tool:
    """Return the tool over skills."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(ListSkillsArguments, arguments)
        found, total = skills.largest(asked.caller, limit=given.limit, offset=given.offset)
        shown = [
            {
                "id": skill.id,
                "name": skill.name,
                "description": brief(skill.description),
                "tool_count": skill.tool_count,
            }
            for skill in found
        ]
        return {"skills": shown, "total": total}

    return Tool(
        "list_skills",
        "List skills",
        _DESCRIPTION,
        input_schema(ListSkillsArguments),
        _OUTPUT,
        call,
        hint="overview of the groups of tools in the catalogue",
    )
