"""Calling an item of a server behind this one: its arguments are checked, and the answer comes back as it is."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio.to_thread
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from skillroute_local.connect.arguments import argument_problems, as_text
from skillroute_local.connect.catalogue import Catalogue, Item
from skillroute_local.connect.kept import Session
from skillroute_local.connect.permissions import only_reads
from skillroute_local.connect.upstream import Upstream
from skillroute_local.connect.use import Use
from skillroute_local.mcp_servers.connection import Connection
from skillroute_local.mcp_servers.model import ServerError

logger = logging.getLogger(__name__)

_NEAREST = 3
_MAX_ID_LENGTH = 600
_ANYTHING: Mapping[str, Any] = {"type": "object"}


class Calls:
    """Passes calls on to the servers that have the items.

    Parameters
    ----------
    catalogue : Catalogue
    upstreams : mapping of a server's name to Upstream
    use : Use or None
        Notes what is passed on, and how it ended.
    """

    def __init__(self, catalogue: Catalogue, upstreams: Mapping[str, Upstream], use: Use | None = None) -> None:
        self._catalogue = catalogue
        self._use = use
        self._upstreams = upstreams

    async def __call__(
        self,
        id_: object,
        arguments: object,
        progress: ProgressFnT | None,
        *,
        reads: bool = False,
        session: Session = None,
    ) -> dict[str, Any]:
        """Return the result of a call, or a tool error that says what to do. Raises `MCPError` as the server does.

        Parameters
        ----------
        reads : bool
            Whether only what is declared to change nothing may be called.
        """
        arguments = _as_object(arguments)
        if not isinstance(id_, str):
            is_within = id_ is None and isinstance(arguments, Mapping) and "id" in arguments
            beside = 'id belongs next to arguments, not in it: {"id": "...", "arguments": {...}}'
            return tool_error(beside if is_within else "id must be a string, as search_tools returns it")
        item = self._catalogue.item(id_)
        if item is None:
            return tool_error(await anyio.to_thread.run_sync(self.unknown, id_))
        given = {} if arguments is None else arguments
        if not isinstance(given, Mapping):
            return tool_error(f"arguments must be an object, with what {item.id} takes: {as_text(_schema(item))}")
        try:
            if reads and not only_reads(item):
                raise _MayWriteError  # its arguments need not be mended first
            problems = await argument_problems(_schema(item), given)
            if not problems:
                with self._noted(session, item) as note:
                    return note(await self._passed_on(item, given, progress, reads=reads))
            problem = _mend(item, problems)
        except _MayWriteError:
            problem = _may_write(item)
        except ServerError as error:
            logger.warning("%s", error)
            problem = f"{error.brief}\nCall again (a server that ended is started again), or take another tool."
        return tool_error(problem)

    @contextmanager
    def _noted(self, session: Session, item: Item) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
        """Note a call and how it ends; one that is cancelled was called, and no more."""
        note = self._use.noted(session, item.id) if self._use is not None else lambda _: None

        def ended(result: dict[str, Any]) -> dict[str, Any]:
            note("failed" if result.get("isError") else "succeeded")
            return result

        try:
            yield ended
        except (ServerError, MCPError):
            note("failed")
            raise

    def unknown(self, id_: str) -> str:
        """Return what to do about an id that no item has."""
        wanted = id_[:_MAX_ID_LENGTH]
        ids = [item.id for item in self._catalogue.items()]
        near = difflib.get_close_matches(wanted, ids, n=_NEAREST, cutoff=0.5)
        near += [known for known in ids if known.endswith(f"/{wanted}") and known not in near][:_NEAREST]
        nearest = f" The nearest are {', '.join(near)}." if near else ""
        return f"There is no item {wanted}.{nearest} Take an id that search_tools returned."

    async def _passed_on(
        self, item: Item, arguments: Mapping[str, Any], progress: ProgressFnT | None, *, reads: bool
    ) -> dict[str, Any]:
        name, upstream = item.listed.name, self._upstreams[item.server]
        if item.listed.kind == "tool":

            async def call(connection: Connection) -> dict[str, Any]:
                # Once more: a server that was started for this call may declare it otherwise than before.
                now = self._catalogue.item(item.id)  # or what else has the name, where it is gone
                if reads and (now is None or now.id != item.id or not only_reads(now)):
                    raise _MayWriteError
                return await connection.call(name, arguments, progress=progress)

            return await upstream.ask(f"tool {name}", call)
        if item.listed.kind == "prompt":
            texts = {argument: _as_text(value) for argument, value in arguments.items()}
            prompt = await upstream.ask(f"prompt {name}", lambda connection: connection.get_prompt(name, texts))
            return {"content": [message["content"] for message in prompt["messages"]]}
        uri = item.listed.value["uri"]
        read = await upstream.ask(f"resource {uri}", lambda connection: connection.read_resource(uri))
        return {"content": [{"type": "resource", "resource": contents} for contents in read["contents"]]}


class _MayWriteError(Exception):
    """A tool is no longer declared to change nothing."""


def _as_object(arguments: object) -> object:
    """Return the object that a text is the JSON of: clients send objects without a schema so. Else what was given."""
    if not isinstance(arguments, str):
        return arguments
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return read if isinstance(read, Mapping) else arguments


def _as_text(value: object) -> str:
    """Return the argument of a prompt as MCP wants it: what is no string as its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tool_error(text: str) -> dict[str, Any]:
    """Return the result of a call that failed, for the model to read."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _schema(item: Item) -> Mapping[str, Any]:
    """Return the JSON schema of what an item takes: a prompt's is made of its arguments, a resource takes nothing."""
    match item.listed.kind:
        case "tool":
            return item.content.input_schema or _ANYTHING
        case "prompt":
            arguments = [one for one in item.listed.value.get("arguments") or () if "name" in one]
            return {
                "type": "object",
                "properties": {one["name"]: {"description": one.get("description") or ""} for one in arguments},
                "required": [one["name"] for one in arguments if one.get("required")],
            }
        case _:
            return _ANYTHING


def _may_write(item: Item) -> str:
    return (
        f"{item.id} may write: its server does not declare that it only reads (annotations.readOnlyHint). "
        "Call it by call_tool_write."
    )


def _mend(item: Item, problems: list[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"The arguments do not fit {item.id}:\n{listed}\nIts schema: {as_text(_schema(item))}"
