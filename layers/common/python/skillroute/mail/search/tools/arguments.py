"""The arguments of the two tools: one table for checking them and for their JSON Schemas (message-search, 7)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.errors.model import InvalidInput
from skillroute.mail.model import IMPORTANCES, Importance, agent_key
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.model import MAX_LIMIT, MAX_TEXT, Mode, Ranking
from skillroute.mail.search.tools import values


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """Arguments that have been judged, by their own names; what was not given has its default."""

    query: str
    project_key: str = ""
    product_key: str = ""
    project: str | None = None
    limit: int = values.DEFAULT_LIMIT
    offset: int = 0
    ranking: Ranking = "relevance"
    mode: Mode | None = None
    sender: str | None = None
    importance: tuple[Importance, ...] = ()
    thread_id: str | None = None
    date_start: int | None = None
    date_end: int | None = None
    cursor: str | None = None
    explain: bool = False

    @property
    def has_cursor(self) -> bool:
        """Whether a page before this one is known: a malformed cursor counts as none."""
        return Cursor.parse(self.cursor) is not None

    @property
    def skipped(self) -> int:
        """How many results are passed over: none where a cursor says where to go on."""
        return 0 if self.has_cursor else self.offset


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool.

    Attributes
    ----------
    name : str
        Its own name, a field of `ToolArguments`.
    parse : callable
        One of `tool_values`.
    schema : mapping
        JSON Schema of its value.
    aliases : tuple of str
        Other names that it goes by.
    compared : callable
        What of a value counts when two names of an argument are given.
    """

    name: str
    parse: Callable[[object], Any]
    schema: Mapping[str, Any]
    aliases: tuple[str, ...] = ()
    is_required: bool = False
    compared: Callable[[Any], Any] = lambda value: value

    def judge(self, arguments: Mapping[str, object]) -> Any:
        """Return its value, None when it was not given. Raises `InvalidInput`."""
        given = {name: arguments[name] for name in (self.name, *self.aliases) if arguments.get(name) is not None}
        parsed = {name: self._parsed(name, value) for name, value in given.items()}
        if not parsed:
            if self.is_required:
                raise InvalidInput(self.name, "is required")
            return None
        first, *others = parsed
        for other in others:
            if self.compared(parsed[other]) != self.compared(parsed[first]):
                raise InvalidInput(first, f"is another name of {other}, and has another value: give one of them")
        return parsed[first]

    def _parsed(self, name: str, value: object) -> Any:
        try:
            return self.parse(value)
        except ValueError as error:
            raise InvalidInput(name, str(error)) from None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's name, what it is for, and what it takes."""

    name: str
    description: str
    arguments: tuple[Argument, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments, as OpenAPI and MCP show it."""
        properties = {}
        for argument in self.arguments:
            properties[argument.name] = dict(argument.schema)
            properties |= {
                alias: {**argument.schema, "description": f"The same as {argument.name}."} for alias in argument.aliases
            }
        return {
            "type": "object",
            "properties": properties,
            "required": [argument.name for argument in self.arguments if argument.is_required],
            "additionalProperties": False,
        }

    def judge(self, arguments: Mapping[str, object]) -> ToolArguments:
        """Return what is to be searched.

        Raises
        ------
        InvalidInput
            An argument is unknown, missing, wrong, or given twice with two values; the field is its name as given.
        """
        known = [name for argument in self.arguments for name in (argument.name, *argument.aliases)]
        for name in arguments:
            if name not in known:
                raise InvalidInput(name, self._why_unknown(name, known))
        judged = {argument.name: argument.judge(arguments) for argument in self.arguments}
        return ToolArguments(**{name: value for name, value in judged.items() if value is not None})

    def _why_unknown(self, name: str, known: list[str]) -> str:
        near = difflib.get_close_matches(name[: values.MAX_NAME].lower(), known, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        allowed = ", ".join(argument.name for argument in self.arguments)
        return f"is not an argument of {self.name}{meant}; allowed are {allowed}"


def _text(description: str, **more: object) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


_QUERY = Argument("query", values.query, _text("What to find.", maxLength=MAX_TEXT), is_required=True)
_PROJECT_KEY = Argument(
    "project_key", values.name, _text("Key of the project that is searched.", minLength=1), is_required=True
)
_PRODUCT_KEY = Argument(
    "product_key", values.name, _text("Key of the product whose projects are searched.", minLength=1), is_required=True
)
_PROJECT = Argument(
    "project",
    values.name,
    _text("Key of one of the product's projects, to search that one alone.", minLength=1),
    aliases=("project_key_filter", "project_slug", "proj"),
)
_LIMIT = Argument(
    "limit",
    values.limit,
    {
        "type": "integer",
        "default": values.DEFAULT_LIMIT,
        "description": f"At most {MAX_LIMIT}; below 1 it is {values.DEFAULT_LIMIT}.",
    },
)
_OFFSET = Argument(
    "offset",
    values.offset,
    {
        "type": "integer",
        "minimum": 0,
        "maximum": values.MAX_OFFSET,
        "default": 0,
        "description": "How many results to pass over; a cursor sets it to 0.",
    },
)
_RANKING = Argument(
    "ranking",
    values.ranking,
    _text("By relevance, or the newest first.", enum=list(values.RANKINGS), default="relevance"),
)
_MODE = Argument("mode", values.mode, _text("How to search; what cannot be had is left out.", enum=list(values.MODES)))
_SENDER = Argument(
    "sender",
    values.name,
    _text("Name of the agent that sent the message, in any case.", minLength=1),
    aliases=("from_agent", "sender_name"),
    compared=agent_key,
)
_IMPORTANCE = Argument("importance", values.importance, _text(f"Any of {', '.join(IMPORTANCES)}, separated by commas."))
_THREAD = Argument("thread_id", values.thread, _text("The thread that the message belongs to.", minLength=1))
_START = Argument(
    "date_start",
    values.start,
    _text("ISO 8601 date or time, UTC unless it says otherwise; nothing older is found."),
    aliases=("date_from", "after", "since"),
)
_END = Argument(
    "date_end",
    values.end,
    _text("ISO 8601 date or time, UTC unless it says otherwise; nothing newer is found. A date is the whole day."),
    aliases=("date_to", "before", "until"),
)
_CURSOR = Argument("cursor", values.token, _text("`next_cursor` of the page before."))
_EXPLAIN = Argument(
    "explain", values.flag, {"type": "boolean", "default": False, "description": "Say how the answer came about."}
)
_FILTERS = (_SENDER, _IMPORTANCE, _THREAD, _START, _END)

SEARCH_MESSAGES = Tool(
    "search_messages",
    "Find messages of a project.",
    (_PROJECT_KEY, _QUERY, _LIMIT, _OFFSET, _RANKING, _MODE, *_FILTERS, _CURSOR, _EXPLAIN),
)
SEARCH_MESSAGES_PRODUCT = Tool(
    "search_messages_product",
    "Find messages of all projects of a product.",
    (_PRODUCT_KEY, _QUERY, _LIMIT, _PROJECT, *_FILTERS, _RANKING, _CURSOR),
)
