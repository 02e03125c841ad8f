"""`search_messages` and `search_messages_product`, which judge their arguments themselves, as over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillroute.core.caller import Caller
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT
from skillroute.mail.search.tools.arguments import Tool as MailTool
from skillroute.mail.search.tools.schemas import SEARCH_MESSAGES_ANSWER, SEARCH_MESSAGES_PRODUCT_ANSWER
from skillroute.mcp.fit import Json
from skillroute.mcp.tool import Asked, Tool

_DESCRIPTION = """\
Find messages that agents sent each other in one project, by meaning and by words, newest or most relevant first. Call \
it to learn what was agreed, asked or decided before; not for tools or documents. The sender, the thread and dates are \
arguments, not words of the query."""
_OF_PRODUCTS = """\
The same as search_messages, in all projects of a product at once. Call it when you do not know which project it was."""

Search = Callable[[Mapping[str, object], Caller, Budget | None], dict[str, Any]]


def search_messages(search: Search) -> Tool:
    """Return the tool over the messages of a project."""
    return _tool(SEARCH_MESSAGES, "Search messages", _DESCRIPTION, SEARCH_MESSAGES_ANSWER, search)


def search_messages_product(search: Search) -> Tool:
    """Return the tool over the messages of a product's projects."""
    title, answer = "Search messages of a product", SEARCH_MESSAGES_PRODUCT_ANSWER
    return _tool(SEARCH_MESSAGES_PRODUCT, title, _OF_PRODUCTS, answer, search)


def _tool(known: MailTool, title: str, description: str, output: Json, search: Search) -> Tool:
    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        return search(arguments, asked.caller, Budget(asked.left_ms))

    return Tool(
        known.name,
        title,
        description,
        _input(known),
        output,
        call,
        hint="messages between agents, by words, meaning, sender, project and time",
    )


def _input(known: MailTool) -> Json:
    """Return the schema of the arguments by their own names: the others are understood too, and would cost tokens."""
    named = {argument.name for argument in known.arguments}
    properties = {name: schema for name, schema in known.schema["properties"].items() if name in named}
    return {**known.schema, "properties": properties}
