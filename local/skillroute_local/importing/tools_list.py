"""Reads answers to `tools/list`, `prompts/list` or `resources/list`, alone or as JSON-RPC."""

from __future__ import annotations

from functools import partial
from typing import Any

from skillroute.catalogue.model import ItemKey, ItemType

from skillroute_local.importing.content import Content, document_of
from skillroute_local.importing.input_schemas import SchemaProblem
from skillroute_local.importing.mended import mended
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, Unreadable
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.values import no_server, rows_of, with_server
from skillroute_local.mcp_servers.resource_names import resource_name

LISTS: dict[str, ItemType] = {
    "tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "resource",
}  # fmt: skip
"""The lists of MCP's answers, and what they hold."""


def is_answer(content: Content) -> bool:
    """Return whether a document is such an answer, or the array of tools out of one: those have an `inputSchema`."""
    value = document_of(content)
    if isinstance(value, list):
        return any(isinstance(tool, dict) and "inputSchema" in tool for tool in value)
    if not isinstance(value, dict):
        return False
    if "jsonrpc" in value or isinstance(value.get("result"), dict):
        return "result" in value or "error" in value
    return any(isinstance(value.get(name), list) for name in LISTS) and "name" not in value


def read_answer(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return what the answer lists, as items of the server that was chosen. Raises `Unreadable`."""
    answer, base = document_of(content), f"{content.path.name}#"
    if isinstance(answer, list):
        return _reading({"tools": answer}, {"tools": base}, choices.server, refuse)
    if isinstance(answer, dict) and "result" in answer:
        answer, base = answer["result"], pointer(base, "result")
    elif isinstance(answer, dict) and "error" in answer:
        raise Unreadable(pointer(base, "error"), f"the server answered with an error: {_message(answer['error'])}")
    if not isinstance(answer, dict) or not any(isinstance(answer.get(name), list) for name in LISTS):
        raise Unreadable(base, f"has no list of {', '.join(LISTS)}")
    return listed(answer, base, choices.server, refuse)


def listed(
    answer: dict[str, Any], base: str, server: str | None, refuse: Refuse, *, only_its_own: bool = False
) -> Reading:
    """Return the items of MCP's lists, by the names that these have in answers.

    A tool whose schema is none is refused: nobody could call it.

    Parameters
    ----------
    only_its_own : bool
        Whether every item is of `server` and of the type of its list, whatever its fields claim: a server that runs
        could otherwise replace the items of another one. Nor does it write requests, which rank and nobody is shown.
    """
    places = {name: pointer(base, name) for name in LISTS}
    return _reading(answer, places, server, refuse, only_its_own=only_its_own)


def _reading(
    answer: dict[str, Any], places: dict[str, str], server: str | None, refuse: Refuse, *, only_its_own: bool = False
) -> Reading:
    rows: list[Row] = []
    lists = {name: answer[name] for name in LISTS if isinstance(answer.get(name), list)}
    uris: dict[str, str] = {}
    left_out: list[str] = []
    for name, values in lists.items():
        named = ((pointer(places[name], place), value) for place, value in enumerate(values))
        for row in rows_of("items", named, refuse):
            if only_its_own:
                item = {**row.value, "type": LISTS[name], "server": server, "requests": None}
            else:
                item = with_server({"type": LISTS[name], **row.value}, server)
            if LISTS[name] == "resource":
                item = _distinct(item, uris)
            item, problem = mended(item, partial(_lost, left_out, row.where))
            if problem:
                refuse(pointer(row.where, *problem.path), problem.reason, _key(item))
            else:
                rows.append(Row("items", row.where, item, row.size))
    types = dict.fromkeys(LISTS[name] for name in lists)
    return Reading(
        "items",
        rows,
        sum(row.size for row in rows),
        scopes=[Scope(server, type_) for type_ in types] if server else (),
        scopes_of_rows=server is None,
        partial="the list goes on: it has a nextCursor" if answer.get("nextCursor") else None,
        notes=(*no_server(rows),),
        left_out=left_out,
    )


def _lost(left_out: list[str], where: str, problem: SchemaProblem) -> None:
    left_out.append(f"{pointer(where, *problem.path)}: left out: {problem.reason}")


def _distinct(item: dict[str, Any], uris: dict[str, str]) -> dict[str, Any]:
    """Return a resource by its URI where another one has its name, which is then its title."""
    name, uri = item.get("name"), item.get("uri", item.get("uriTemplate"))
    if not isinstance(name, str) or not isinstance(uri, str):
        return item
    distinct = resource_name(name, uri, uris)
    return item if distinct == name else {**item, "name": distinct, "title": item.get("title") or name}


def _key(item: dict[str, Any]) -> ItemKey | None:
    server, name = item.get("server") or "", item.get("name")
    if not isinstance(server, str) or not isinstance(name, str):
        return None
    return next((ItemKey(server, type_, name) for type_ in LISTS.values() if type_ == item["type"]), None)


def _message(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:200]
