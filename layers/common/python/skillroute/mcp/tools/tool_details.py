"""`get_tool_details`: everything about tools whose ids are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from skillroute.catalogue.read import ReadItems
from skillroute.core.input.json_schema import INTEGER, OBJECT, described, list_of, object_of
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json, byte_limit, fit
from skillroute.mcp.shown import DetailOfOne, stubs_of, whole
from skillroute.mcp.tool import Asked, Tool, ToolError
from skillroute.mcp.tools.search_tools import TOOL_FIELDS

MAX_IDS = 20

_DESCRIPTION = """\
Get everything about tools that search_tools has found, by their ids: whole description, input and output schema, \
annotations. Call it before you call a tool of which you know only the signature; not for ids that you guess."""

_FIELDS = {name: schema for name, schema in TOOL_FIELDS.items() if name not in {"score", "signature"}}
_TOOL = object_of({**_FIELDS, "metadata": OBJECT}, "id", "name")
_OUTPUT = object_of(
    {
        "tools": list_of(_TOOL, "In the order of ids."),
        "missing": list_of(INTEGER, "Ids that no tool has."),
        "omitted": described(INTEGER, "Tools that had no room: ask for fewer at once."),
    },
    "tools",
)


class ToolDetailsArguments(Arguments):
    """The arguments of `get_tool_details`."""

    ids: Annotated[
        list[Annotated[int, Field(ge=1, le=2**63 - 1)]],
        Field(min_length=1, max_length=MAX_IDS, description="Of search_tools' answer."),
    ]
    detail: DetailOfOne | None = None


def tool_details(items: ReadItems) -> Tool:
    """Return the tool over the catalogue."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(ToolDetailsArguments, arguments)
        ids = given.ids
        found, without_room = items.some(ids, asked.caller)
        there = {*(item.id for item in found), *without_room}
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in there]
        if not found:
            raise ToolError(
                f"no tool has {'the id' if len(missing) == 1 else 'one of the ids'} "
                f"{', '.join(map(str, missing))}: search_tools finds tools with their ids"
            )

        def envelope(tools: list[Json]) -> Json:
            omitted = len(found) + len(without_room) - len(tools)
            rest = {"missing": missing} if missing else {}
            return {"tools": tools, **rest, **({"omitted": omitted} if omitted else {})}

        write_stub = stubs_of(given.detail or "full")
        return fit([[whole(item, write_stub)] for item in found], envelope, [byte_limit()])

    return Tool(
        "get_tool_details",
        "Get tool details",
        _DESCRIPTION,
        input_schema(ToolDetailsArguments),
        _OUTPUT,
        call,
        hint="whole description and schemas of tools by the ids that search_tools returned",
        is_always_shown=True,
    )
