"""The tools as MCP lists and calls them, in the same order for all callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from skillroute.core.caller import Caller
from skillroute.core.errors import outage
from skillroute.core.errors.model import DependencyUnavailable, InvalidInput, NotFound
from skillroute.core.input.encodable import encodable
from skillroute.mcp.fit import ANSWER_BYTES, Json
from skillroute.mcp.passed_on import passed_on
from skillroute.mcp.revisions import Revision, has_structured_content, titled
from skillroute.mcp.rpc import INVALID_PARAMS, RpcError, quoted, to_text
from skillroute.mcp.tool import Asked, Marked, Passed, Tool, ToolError, client_hints

T = TypeVar("T")


class Toolbox:
    """Lists and calls tools.

    Parameters
    ----------
    makers : mapping of str to callable
        Make the tools, by their names, in the order of the list. Each is made when it is first called or listed: what
        stands behind one must not lengthen a cold start that calls another one.
    group_of : mapping of str to str
        The groups of those tools that are not listed for all callers, and are called by any.
    has_use : callable
        Returns whether a caller has use for the tools of a group. Raises `DependencyUnavailable`: they are listed then.
    elsewhere : callable
        Returns where a tool is called that is none of these; None where the caller sees none of the name. Raises
        `DependencyUnavailable`.
    deprecated : frozenset of str
        Former names of tools, which are called by clients that know them, and listed for none.
    """

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Tool]],
        group_of: Mapping[str, str] = MappingProxyType({}),
        has_use: Callable[[str, Caller], bool] = lambda *_: True,
        elsewhere: Callable[[str, Caller], str | None] = lambda *_: None,
        *,
        deprecated: frozenset[str] = frozenset(),
    ) -> None:
        self._listed = [name for name in makers if name not in deprecated]
        self._elsewhere = elsewhere
        self._makers = makers
        self._group_of = group_of
        self._has_use = has_use
        self._made: dict[str, Tool] = {}

    def listed(self, asked: Asked, revision: Revision) -> tuple[list[Json], bool]:
        """Return the tools as a revision describes them to the caller, and whether the descriptions are whole.

        What a description ends with may have to be read from where nothing can be read now: a list of tools without it
        is better than none, but not worth keeping.
        """
        listed: list[Json] = []
        reading = _Reading(asked.caller)
        groups = set(self._group_of.values()) - asked.groups
        useless = {group for group in sorted(groups) if reading(partial(self._has_use, group)) is False}
        for name in self._listed:
            if self._group_of.get(name) in useless:
                continue
            tool = self._tool(name)
            more = None if tool.more is None else reading(tool.more)
            listed.append(_listed(tool, f"{tool.description}{'' if more is None else f' {more}'}", revision))
        return listed, reading.is_whole

    def call(self, params: Mapping[str, Any], asked: Asked, revision: Revision) -> Json:
        """Call a tool.

        Whatever goes wrong within it is its result, with `isError`: so that the model sees it, and can do better.

        Raises
        ------
        RpcError
            There is no such tool, here or in what the caller sees of the catalogue, or the arguments are no object.
        """
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or name not in self._makers:
            return self._called_elsewhere(name, asked)
        if arguments is not None and not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
        try:
            return _answered(self._tool(name), arguments or {}, asked, revision)
        except (ToolError, NotFound) as error:
            return failed(str(error))
        except InvalidInput as error:
            return failed(f"{error.field}: {error.message}")
        except DependencyUnavailable as error:
            outage.note(error)
            return failed(outage.advice(error))

    def _called_elsewhere(self, name: object, asked: Asked) -> Json:
        """Return where a tool of the catalogue is called. Raises `RpcError` for any other name."""
        try:
            where = self._elsewhere(name, asked.caller) if isinstance(name, str) else None
        except DependencyUnavailable as error:
            outage.note(error)
            return failed(outage.advice(error))
        if where is None:
            there = f"there are {', '.join(self._listed)}; search_tools finds those of other servers"
            raise RpcError(INVALID_PARAMS, f"there is no tool {quoted(name)}; {there}")
        return failed(where)

    def make_all(self) -> None:
        """Make every tool now, where a process is prepared before it is asked anything."""
        for name in self._makers:
            self._tool(name)

    def _tool(self, name: str) -> Tool:
        if name not in self._made:  # two threads may both make it; they make the same
            tool = self._makers[name]()
            if tool.name != name:
                raise ValueError(f"the tool {tool.name} is wired as {name}")
            self._made[name] = tool
        return self._made[name]


class _Reading:
    """Reads what a list depends on, until something cannot be read: the rest is not waited for."""

    def __init__(self, caller: Caller) -> None:
        self.is_whole = True
        self._caller = caller

    def __call__(self, read: Callable[[Caller], T]) -> T | None:
        """Return what is read for the caller; None where it cannot be had."""
        if not self.is_whole:
            return None
        try:
            return read(self._caller)
        except DependencyUnavailable as error:
            outage.note(error)
            self.is_whole = False
            return None


def _listed(tool: Tool, description: str, revision: Revision) -> Json:
    later = has_structured_content(revision)
    is_own_answer = tool.output_schema is not None
    hints = client_hints(tool.hint, is_always_shown=tool.is_always_shown, is_own_answer=is_own_answer)
    return {
        "name": tool.name,
        **titled(revision, tool.title),
        "description": description,
        "inputSchema": tool.input_schema,
        **({"outputSchema": tool.output_schema} if later and is_own_answer else {}),
        "annotations": tool.annotations,
        **({"_meta": hints} if later else {}),
    }


def _answered(tool: Tool, arguments: Mapping[str, Any], asked: Asked, revision: Revision) -> Json:
    called = tool.call(arguments, asked)
    if isinstance(called, Passed):
        return passed_on(called.result, revision)
    answer, meta = called if isinstance(called, Marked) else (called, None)
    # Half of a surrogate pair, repeated from the arguments, is no text that an answer can carry.
    text = encodable(to_text(answer))
    if len(text.encode("utf-8")) > ANSWER_BYTES:
        return failed("the answer is too large to be sent: ask for less, with a smaller limit or without explain")
    content = [{"type": "text", "text": text}]
    return {
        "content": content,
        **({"structuredContent": answer} if has_structured_content(revision) else {}),
        **({"_meta": meta} if meta else {}),
    }


def failed(message: str) -> Json:
    """Return the result of a call that failed, with what the model is to know."""
    return {"content": [{"type": "text", "text": encodable(message)}], "isError": True}
