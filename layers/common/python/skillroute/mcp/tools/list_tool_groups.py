"""`list_tool_groups`: the subjects of the catalogue. The API calls a tool group a skill, as this door once did."""

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
List the tool groups of the catalogue, those with the most tools first: named groups of tools that serve one \
purpose. Call it to see what can be done here at all, or when search_tools finds nothing; for a task call search_tools \
at once."""

_GROUP = object_of({"id": STRING, "name": STRING, "description": STRING, "tool_count": INTEGER})


class ListToolGroupsArguments(Arguments):
    """The arguments of `list_tool_groups`."""

    limit: int = Field(30, ge=1, le=200, description="How many at most.")
    offset: int = Field(0, ge=0, le=10_000, description="How many to pass over.")


def list_tool_groups(skills: ReadSkills) -> Tool:
    """Return the tool over groups of tools."""
    return _tool("list_tool_groups", "List tool groups", "tool_groups", skills)


def list_skills(skills: ReadSkills) -> Tool:
    """Return the same tool under its deprecated name, with the answer that it had."""
    return _tool("list_skills", "List skills", "skills", skills)


def _tool(name: str, title: str, key: str, skills: ReadSkills) -> Tool:
    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(ListToolGroupsArguments, arguments)
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
        return {key: shown, "total": total}

    return Tool(
        name,
        title,
        _DESCRIPTION,
        input_schema(ListToolGroupsArguments),
        object_of({key: list_of(_GROUP), "total": described(INTEGER, "Of all pages.")}),
        call,
        hint="overview of the groups of tools in the catalogue",
    )
