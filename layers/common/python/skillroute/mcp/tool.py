"""The definition of an MCP tool: name, arguments, answer, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from skillroute.core.caller import Caller
from skillroute.core.time.deadline import Deadline
from skillroute.mcp.fit import Json

GROUPS = ("mail", "skills")
"""Groups of tools that are listed only for callers that have use for them, or ask for them (`/mcp?tools=mail`)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, and by when the answer must be there.

    Attributes
    ----------
    deadline : Deadline or None
        The end of the invocation, which all requests of a batch share; None where there is none.
    tools : str
        The groups of tools that the caller asks to have listed, with commas between; see `GROUPS`.
    token : str or None
        The bearer token that the request came with, for calls that pass it on.
    session : str or None
        The session that the client says it is in: within it ids of requests are its own.
    request_id : str, int or None
        Of the request that a tool is called by.
    notices : callable or None
        Takes messages that are sent before the answer, as bytes; None where the client takes no stream.
    progress : callable or None
        Takes how far a call is, where the client asks to be kept informed.
    base_url : str or None
        Of this server, by the name that it was asked by.
    is_gone : callable or None
        Returns whether the client waits no longer; None where that cannot be seen.
    """

    caller: Caller
    deadline: Deadline | None = None
    tools: str = ""
    token: str | None = field(default=None, repr=False)
    session: str | None = None
    request_id: str | int | None = None
    notices: Callable[[bytes], None] | None = None
    progress: Callable[[float, float | None, str | None], None] | None = None
    is_gone: Callable[[], bool] | None = None
    base_url: str | None = None

    @property
    def groups(self) -> frozenset[str]:
        """The groups of tools that are listed whether the caller has use for them or not."""
        return frozenset(filter(None, (name.strip() for name in self.tools.split(","))))

    @property
    def left_ms(self) -> float | None:
        """The milliseconds that are left now; None where there is no end."""
        return None if self.deadline is None else self.deadline.remaining_s() * 1000.0


class ToolError(Exception):
    """A call that failed in a way that the model can mend; `str(error)` says what is wrong and what to do."""


MAX_RESULT_CHARS = 500_000
"""How much of an answer clients are asked to pass on whole: the most that Claude Code takes from a server's word."""


def client_hints(hint: str, *, is_always_shown: bool, is_own_answer: bool = True) -> Json:
    """Return the `_meta` of a tool in a list: what clients that hold tools back, or cut answers, go by.

    The keys are Claude Code's; a client that does not know them ignores them. The length of an answer is that of this
    server's own answers alone: one that is passed on may be of any length, and the client knows better.
    """
    return {
        "anthropic/searchHint": hint,
        **({"anthropic/alwaysLoad": True} if is_always_shown else {}),
        **({"anthropic/maxResultSizeChars": MAX_RESULT_CHARS} if is_own_answer else {}),
    }


class Marked(NamedTuple):
    """An answer, and what is in its `_meta`, for the program that called: no model reads it, and it costs no tokens."""

    answer: Json
    meta: Json


class Passed(NamedTuple):
    """The result of another server's tool, which is passed on as it came."""

    result: Json


@dataclass(frozen=True, slots=True)
class Tool:
    """One of the tools.

    Attributes
    ----------
    description : str
        What models read of it: when to call it, and when not.
    input_schema, output_schema : dict
        JSON Schema. Every answer is valid by the second, which is None where the answers are of other servers' tools.
    call : callable
        Takes the arguments as they came. Raises `ToolError` and `InvalidInput` for what is wrong with them, and
        `DependencyUnavailable`.
    hint : str
        What clients that hold tools back find it by.
    is_always_shown : bool
        Whether such clients are asked to show it from the start.
    more : callable or None
        Returns what follows the description and must be read for it. Raises `DependencyUnavailable`: the tool is listed
        without it then.
    annotations : dict
        Hints of what it does: read only, and closed to this server, unless it says otherwise.
    """

    name: str
    title: str
    description: str
    input_schema: Json
    output_schema: Json | None
    call: Callable[[Mapping[str, Any], Asked], Json | Marked | Passed]
    hint: str
    is_always_shown: bool = False
    more: Callable[[Caller], str] | None = None
    annotations: Json = field(default_factory=lambda: {"readOnlyHint": True, "openWorldHint": False})
