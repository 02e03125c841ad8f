"""Tools that are found here and called elsewhere: what to tell an agent that calls one here by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillroute.catalogue.mentions import plain
from skillroute.catalogue.model import Item, ItemFilter
from skillroute.catalogue.read import ReadItems
from skillroute.core.caller import Caller
from skillroute.mcp.rpc import quoted

_PREFIX = "mcp__"
_MAX_LENGTH = 600
_MAX_SPLITS = 3
_MAX_READ = 100  # items of one name
_MAX_NAMED = 3  # servers
_MAX_NAME = 32  # characters of a server's name that is repeated


HOW_TO_CALL = "Each on its own `server`, not here; or through `skillroute connect`."
"""The same for all answers: which server it is, each result says."""


class ToolsElsewhere:
    """Looks a name up in the catalogue: alone, or as `server/name` or `mcp__server__name`, as clients write it.

    Parameters
    ----------
    items : ReadItems
    called_here : str
        The names of the tools here that call others; empty where there are none.
    """

    def __init__(self, items: ReadItems, called_here: str = "") -> None:
        self._items = items
        self._called_here = called_here

    def __call__(self, name: str, caller: Caller) -> str | None:
        """Return which server a tool of this name is called on; None where the caller sees no such tool.

        Raises `DatabaseUnavailable`.
        """
        if len(name) > _MAX_LENGTH or not name.isprintable():
            return None
        for server, tool in _readings(name):
            found = self._of(tool, server, caller)
            if found:
                return _here(found, self._called_here) if self._called_here else _where(found)
        return None

    def _of(self, name: str, server: str | None, caller: Caller) -> list[Item]:
        """Return the tools of a name, of all servers or of one, as it is written or as clients write it."""
        where = ItemFilter(type="tool", name=name, is_active=True)
        found, _ = self._items.page(where, caller, limit=_MAX_READ, offset=0)
        if server is None:
            return found
        return [item for item in found if item.content.key.server == server] or [
            item for item in found if plain(item.content.key.server) == plain(server)
        ]


def _where(found: list[Item]) -> str:
    first = found[0].content.key
    servers = _named(item.content.key.server for item in found)
    ids = ", ".join(str(item.id) for item in found[:_MAX_NAMED])
    of = f"of the MCP server{'' if len(found) == 1 else 's'} {servers}" if servers else "whose server is not known here"
    example = f", where clients often call it {quoted(f'mcp__{first.server}__{first.name}')}" if first.server else ""
    return (
        f"{quoted(first.name)} is a tool {of}: it is found here and called there{example}. If you are not connected to "
        f"that server, `skillroute connect` calls it by call_tool. get_tool_details with ids [{ids}] has its schema."
    )


def _here(found: list[Item], by: str) -> str:
    ids = ", ".join(str(item.id) for item in found[:_MAX_NAMED])
    name = quoted(found[0].content.key.name)
    return f"{name} is called by {by}, with its id ({ids}) and its arguments; get_tool_details has its schema."


def _named(servers: Iterable[str]) -> str:
    """Return the first names of servers; those that are too long to be repeated are left out."""
    distinct = [name for name in dict.fromkeys(servers) if 0 < len(name) <= _MAX_NAME]
    return ", ".join([*distinct[:_MAX_NAMED], *(["…"] if len(distinct) > _MAX_NAMED else [])])


def _readings(name: str) -> Iterator[tuple[str | None, str]]:
    """Return what may be the server and the tool of a name, the likeliest first."""
    yield None, name
    qualified = name.removeprefix(_PREFIX)
    for separator in ("__",) if qualified != name else ("/", "__"):
        parts = qualified.split(separator)
        for place in range(len(parts) - 1, max(0, len(parts) - 1 - _MAX_SPLITS), -1):
            server, tool = separator.join(parts[:place]), separator.join(parts[place:])
            if server and tool:
                yield server, tool
