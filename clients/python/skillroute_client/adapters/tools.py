"""Tools as agents get them: with a name that models take, and a key to find them again."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from skillroute_client.models.catalogue import Tool
from skillroute_client.models.search import FoundTool

MAX_NAME = 64
"""How long a tool's name may be, in characters: OpenAI's limit, which is the narrowest."""
MAX_FOUND = 50
"""How many tools one search finds at most."""
MAX_NEEDS = 10
"""That one search serves."""
MAX_QUERY = 1_000
"""How long a query or a need may be, in characters."""

logger = logging.getLogger("skillroute_client")
"""Where the adapters say that a search failed and an agent goes on without its tools."""

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
_HASH = 8


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool of the catalogue as an agent gets it.

    Attributes
    ----------
    key : str
        Skillroute's id of it.
    server : str or None
        The server that has it.
    name : str
        As its server calls it.
    model_name : str
        As models call it: the server's name and its own, of the characters that all models take. No two tools have
        the same.
    description : str
    input_schema : dict
        Of an object, also where the catalogue has none.
    """

    key: str
    server: str | None
    name: str
    model_name: str
    description: str
    input_schema: dict[str, Any]

    @classmethod
    def of(cls, tool: Tool | FoundTool) -> AgentTool:
        """Return a tool of a list, or one that a search found."""
        return cls(
            key=str(tool.id if isinstance(tool, Tool) else tool.db_id),
            server=tool.server,
            name=tool.name,
            model_name=model_name(tool.server, tool.name),
            description=tool.description,
            input_schema=object_schema(tool.input_schema),
        )


Caller = Callable[[AgentTool, Mapping[str, Any]], Any]
"""Calls a tool with arguments and returns its result: over MCP, or however the tools are run. Skillroute finds only."""
AsyncCaller = Callable[[AgentTool, Mapping[str, Any]], Awaitable[Any]]


def model_name(server: str | None, name: str) -> str:
    """Return a name that models take: it is the same one each time, and of no two tools.

    Examples
    --------
    >>> model_name("github", "create_issue")
    'github__create_issue'
    """
    whole = f"{server}__{name}" if server else name
    plain = _FORBIDDEN.sub("_", whole)
    # It can be taken apart in one way only: not as `a___b`, of a server `a_` or a tool `_b`.
    is_clear = re.split("__+", whole) == ([server, name] if server else [name]) and "___" not in whole
    if plain == whole and is_clear and len(plain) <= MAX_NAME:
        return plain
    digest = hashlib.sha256(f"{server or ''}\0{name}".encode()).hexdigest()[:_HASH]
    return f"{plain[: MAX_NAME - _HASH - 1]}_{digest}"


def object_schema(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a schema of an object: model APIs take no other one, and none is one without properties.

    A property that may be anything is `{}`, one that may not be `{"not": {}}`: they take no true, false or null there.
    """
    given = {key: value for key, value in (schema or {}).items() if value is not None}
    properties = given.get("properties")
    as_object: dict[bool | None, dict[str, Any]] = {True: {}, None: {}, False: {"not": {}}}
    shown = {
        name: as_object[inner] if inner is None or isinstance(inner, bool) else inner
        for name, inner in (properties if isinstance(properties, Mapping) else {}).items()
    }
    return {"type": "object", **given, "properties": shown}


class Asked(NamedTuple):
    """The request of a model: a query, needs, or both, and how many tools at most."""

    query: str | None
    needs: list[str] | None
    limit: int


def search_arguments(arguments: Any, default_limit: int) -> Asked:
    """Return what a model asked for; what is no limit is the default, and at least two for each need, up to ten.

    Raises
    ------
    ValueError
        There is neither a query nor a need.
    """
    asked = arguments if isinstance(arguments, Mapping) else {}
    query, needs, limit = (asked.get(name) for name in ("query", "needs", "limit"))
    query = query if isinstance(query, str) and query.strip() else None
    needs = [need for need in needs if isinstance(need, str) and need.strip()] if isinstance(needs, list) else []
    if query is None and not needs:
        raise ValueError("the arguments need a query or needs: what is needed, in plain words")
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return Asked(query, needs or None, min(limit, MAX_FOUND))
    return Asked(query, needs or None, most_of(needs, default_limit))


def most_of(needs: Sequence[str] | None, default_limit: int) -> int:
    """Return how many tools are found for needs by default: two for each, up to ten."""
    return max(default_limit, min(MAX_NEEDS, 2 * len(needs or ())))


def last_request(messages: Iterable[Any]) -> str | None:
    """Return what the user of a chat asked last, or None; of a long text its beginning and its end.

    The wish stands before a text that is pasted in, or behind it.
    """
    for message in reversed(list(messages)):
        content = field(message, "content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = (field(part, "text") for part in parts)
        text = " ".join(text for text in texts if isinstance(text, str)).strip()
        if field(message, "role") == "user" and text:
            return shortened(text)
    return None


def field(value: Any, name: str) -> Any:
    """Return what an object of a library has under a name, or its JSON; None where it has nothing."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def shortened(text: str) -> str:
    """Return a text that is as long as a query may be."""
    half = MAX_QUERY // 2
    return text if len(text) <= MAX_QUERY else f"{text[: half - 1]} {text[-half:]}"


def asked_for(limit: int) -> int:
    """Return how many tools to search for where `limit` are wanted and the agent may lack some of those found."""
    return min(MAX_FOUND, 4 * limit)


SEARCH_DESCRIPTION = (
    "Find the tools that a task needs; those that fit become available to be called. State needs: one for each step "
    'that the task takes, as verb, object and the kind of source or app. For a trip to Oslo: needs ["search flights by '
    'date on a travel site", "read the weather forecast of a city", "add an event to a calendar"].'
)
SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "needs": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MAX_NEEDS,
            "description": "What the task needs, one by one; rather than query.",
        },
        "query": {"type": "string", "description": "What is needed, in plain words."},
        "limit": {"type": "integer", "description": f"How many tools at most, 1 to {MAX_FOUND}."},
    },
    "additionalProperties": False,
}


def check_callers(call: Caller | None, acall: AsyncCaller | None) -> None:
    """Raise `ValueError` where there is nothing that calls a tool."""
    if call is None and acall is None:
        raise ValueError("give call or acall: Skillroute finds tools, and calls none")
