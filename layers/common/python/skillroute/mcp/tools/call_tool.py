"""`call_tool`, `call_tool_read` and `call_tool_write`: calling what was found, on the server that offers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import Field, field_validator

from skillroute.calling.in_flight import call_key
from skillroute.calling.model import Progress
from skillroute.calling.tool_call import Form, ToolCall
from skillroute.core.caller import Caller
from skillroute.core.trace.noted import origin
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json
from skillroute.mcp.tool import Asked, Passed, Tool, ToolError

CALL, READ, WRITE = "call_tool", "call_tool_read", "call_tool_write"

_LEFT_S = 1.0
"""Of the time of a request: what its answer takes after the call."""

_CALL = """\
Call a tool by the id that search_tools returned, with the arguments that its signature names. The answer is the \
tool's own."""
_READ = """\
Call a tool that changes nothing: one whose annotations have readOnlyHint, by the id that search_tools returned, with \
the arguments that its signature names. The answer is the tool's own. Any other tool is refused."""
_WRITE = """\
Call any tool by the id that search_tools returned, also one that writes, sends or deletes, with the arguments that \
its signature names. The answer is the tool's own. For what only reads, take call_tool_read."""
_WRITES: Json = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
_FORMS: dict[str, tuple[Form, str, str, str, Json]] = {
    CALL: ("any", "Call a tool", _CALL, "call a tool that search_tools found", _WRITES),
    READ: (
        "read", "Call a tool that reads", _READ, "call a tool that search_tools found and that changes nothing",
        {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
    ),
    WRITE: ("any", "Call a tool that may write", _WRITE, "call any tool that search_tools found", _WRITES),
}  # fmt: skip


MakeCall = Callable[[ToolCall, Caller, Progress | None, Callable[[], bool] | None], Json]


class CallToolArguments(Arguments):
    """The arguments of a call. Those of the tool itself are its own to check."""

    id: Annotated[int, Field(ge=1, le=2**63 - 1, description="Of search_tools' answer.")]
    arguments: dict[str, Any] | None = Field(None, description="What the tool takes, by its signature.")

    @field_validator("arguments", mode="before")
    @classmethod
    def _object_of_text(cls, value: object) -> object:
        """Clients send objects of any shape as text at times, which the model cannot mend."""
        if isinstance(value, str):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        return value


def _check_places(arguments: Mapping[str, Any]) -> None:
    """Refuse arguments of the tool that are not within `arguments`. Raises `ToolError`."""
    inner = arguments.get("arguments")
    is_within = "id" not in arguments and isinstance(inner, Mapping) and "id" in inner
    if is_within or ("arguments" not in arguments and len(arguments.keys() - {"id"}) > 0 and "id" in arguments):
        raise ToolError('id stands next to arguments, which has what the tool takes: {"id": 7, "arguments": {...}}')


def call_tool(name: str, calls: MakeCall) -> Tool:
    """Return one of the tools that call others."""
    form, title, description, hint, annotations = _FORMS[name]

    def call(arguments: Mapping[str, Any], asked: Asked) -> Passed:
        _check_places(arguments)
        given = parsed(CallToolArguments, arguments)
        seconds = None if asked.left_ms is None else asked.left_ms / 1000.0 - _LEFT_S
        key = None if asked.request_id is None else call_key(asked.caller, asked.session, asked.request_id)
        made = ToolCall(given.id, given.arguments or {}, form, asked.token, key, seconds, origin(), asked.base_url)
        return Passed(calls(made, asked.caller, asked.progress, asked.is_gone))

    schema = input_schema(CallToolArguments)
    schema["properties"]["arguments"] = {"type": "object", "description": "What the tool takes, by its signature."}
    return Tool(
        name, title, description, schema, None, call, hint=hint, is_always_shown=True, annotations=annotations,
    )  # fmt: skip
