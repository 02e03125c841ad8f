"""The tools that `connect` itself has: what an agent reads of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillroute.mcp.arguments import input_schema
from skillroute.mcp.fit import Json
from skillroute.mcp.tool import client_hints
from skillroute.mcp.tools.search_tools import SearchToolsArguments

from skillroute_local.connect import answers
from skillroute_local.connect.kept import ReadArguments
from skillroute_local.connect.offer import Called, Offer

_MAX_NAMES_LENGTH = 800  # characters of the servers' names in the description

SEARCH, DETAILS, CALL = "search_tools", "get_tool_details", "call_tool"
READ, WRITE = "call_tool_read", "call_tool_write"
READ_ON = "read_answer"
_CALLS: dict[Called, tuple[str, ...]] = {"one": (CALL,), "both": (CALL, READ, WRITE), "split": (READ, WRITE)}
CALL_ARGUMENTS = ("id", "arguments")
_SEARCH = """\
Find the tools, prompts and resources that fit a task, best first, out of those of all connected servers. Call it \
before you say that something cannot be done, and whenever the task needs an action or live data that none of your \
tools gives. Not for what you know already. State needs: one for each step that the task takes, as verb, object and \
the kind of source or app. For a trip to Oslo: needs ["search flights by date on a travel site", "read the weather \
forecast of a city", "add an event to a calendar"]. One call finds the tools of all; then call_tool(id, arguments) \
does each."""
_DETAILS = """\
Get everything about what search_tools has found, by ids: whole description, input and output schema. Call it before \
call_tool where the signature leaves open what to give; not for ids that you guess."""
_CALL = """\
Call a tool by the id that search_tools returned, with the arguments that its signature names. The answer is the \
tool's own. With the id of a prompt it returns its messages, with that of a resource its contents."""
_READ = """\
Call a tool that changes nothing: one that search_tools returned with read_only, by its id, with the arguments that \
its signature names. The answer is the tool's own. With the id of a prompt it returns its messages, with that of a \
resource its contents. Any other tool is refused."""
_WRITE = """\
Call any tool by the id that search_tools returned, also one that writes, sends or deletes, with the arguments that \
its signature names. The answer is the tool's own. For what has read_only, take call_tool_read."""

_INSTRUCTIONS = (
    "The tools of {}, behind a search. For a task, call search_tools with what is needed in plain words, "
    "then call_tool with an id that it returned."
)
_EXPOSING = (
    "The tools of {}, under names of their own as far as they are listed. search_tools finds every one of "
    "them, and prompts and resources: state the need in plain words; call_tool calls what is not listed, by its id."
)


def shown_names(servers: Iterable[str]) -> str:
    """Return the names of servers, cut where they are long together."""
    names = ", ".join(servers)
    return names if len(names) <= _MAX_NAMES_LENGTH else f"{names[:_MAX_NAMES_LENGTH]}…"


def _behind(servers: Sequence[str]) -> str:
    if not servers:
        return "no server yet"
    return f"{len(servers)} server{'' if len(servers) == 1 else 's'} ({shown_names(servers)})"


def call_names(offer: Offer) -> tuple[str, ...]:
    """Return the names of the tools that call others."""
    return _CALLS[offer.called]


def own_names(offer: Offer) -> tuple[str, ...]:
    """Return the names of all tools that `connect` itself has, in the order of the list."""
    return (SEARCH, DETAILS, *call_names(offer), *((READ_ON,) if offer.shown_chars is not None else ()))


def instructions(offer: Offer, servers: Iterable[str]) -> str:
    """Return the words of this server about itself, for clients."""
    text = _called(_INSTRUCTIONS if offer.exposed == "search" else _EXPOSING, offer)
    return text.format(_behind(list(servers)))


def own_tools(servers: Iterable[str], offer: Offer = Offer()) -> list[Json]:  # noqa: B008 (it cannot be changed)
    """Return the tools of `connect` as MCP lists them; `servers` are the names of those behind them."""
    shown = shown_names(servers)
    reads = {"readOnlyHint": True, "openWorldHint": False}
    return [
        {"name": SEARCH, "title": "Search tools",
         "description": f"{_called(_SEARCH, offer)} Connected servers: {shown}.",
         "inputSchema": input_schema(SearchToolsArguments), "annotations": reads,
         "_meta": client_hints("find tools for a task across all connected servers", is_always_shown=True)},
        {"name": DETAILS, "title": "Get tool details", "description": _called(_DETAILS, offer),
         "inputSchema": input_schema(answers.DetailsArguments), "annotations": reads,
         "_meta": client_hints("schemas and descriptions of tools that search_tools found", is_always_shown=True)},
        *(_calling(name) for name in call_names(offer)),
        *([_READ_ANSWER] if offer.shown_chars is not None else []),
    ]  # fmt: skip


def _calling(name: str) -> Json:
    """Return a tool that calls others. What is not known to read counts as what it may do at worst."""
    title, description, hint, annotations = _FORMS[name]
    id_ = {"type": "string", "description": "Of search_tools' answer."}
    arguments = {"type": "object", "description": "What the tool takes, by its signature."}
    taken: Json = {
        "type": "object",
        "properties": dict(zip(CALL_ARGUMENTS, (id_, arguments), strict=True)),
        "required": ["id"],
        "additionalProperties": False,
    }
    return {
        "name": name, "title": title, "description": description, "inputSchema": taken,
        **({"annotations": annotations} if annotations else {}),
        "_meta": client_hints(hint, is_always_shown=True, is_own_answer=False),
    }  # fmt: skip


def _called(text: str, offer: Offer) -> str:
    """Return a text that names `call_tool`, with those in its place where it is not offered."""
    return text if CALL in call_names(offer) else text.replace(CALL, f"{READ} or {WRITE}")


_FORMS: dict[str, tuple[str, str, str, Json]] = {
    CALL: ("Call a tool", _CALL, "call a tool that search_tools found", {}),
    READ: (
        "Call a tool that reads", _READ, "call a tool that search_tools found with read_only",
        {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
    ),
    WRITE: (
        "Call a tool that may write", _WRITE, "call any tool that search_tools found",
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    ),
}  # fmt: skip

_READ_ANSWER: Json = {
    "name": READ_ON,
    "title": "Read on in an answer",
    "description": "Return a further part of a tool's answer that was too long to be shown at once: by the id that its "
    "first part names, from an offset on.",
    "inputSchema": input_schema(ReadArguments),
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "_meta": client_hints("read on in a long answer of a tool", is_always_shown=True, is_own_answer=False),
}
