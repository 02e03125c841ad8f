"""The cost of MCP requests, in units of a plain search (docs/adr/0065)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skillroute.core.rationing.work import HEAVY_UNITS
from skillroute.mcp.rpc import INVALID_REQUEST, Message, RpcError, message_of, read_body

_FREE = frozenset({"initialize", "ping", "server/discover", "resources/templates/list"})
_MAX_TOKENS = 20_000
_COUNTING = 2.4
"""Units of fitting an answer into a budget of so many tokens."""
_EACH_OF_MANY = 0.05
_MAX_NEEDS = 10
_MESSAGE_TOKENS = 2_000  # where no budget is given
_MAX_IDS = 20
_SEARCHES = (
    "search_tools", "search_servers_and_agents", "search_skills", "search_messages", "search_messages_product",
)  # fmt: skip
CALLING = frozenset({"call_tool", "call_tool_read", "call_tool_write"})
"""The tools that wait for other servers."""
_SHORT_BYTES = 16 * 1024  # of ten needs of 1,000 characters and more


def cost_of(message: Message) -> float:
    """Return the units of a request, whose arguments nobody has checked yet: what is wrong with them costs little.

    Examples
    --------
    >>> cost_of(Message("ping")), cost_of(Message("tools/list"))
    (0.0, 1.0)
    """
    if message.method in _FREE:
        return 0.0
    from skillroute.search.cost import search_cost  # noqa: PLC0415 - a function that starts asks for nothing yet

    arguments = message.params.get("arguments")
    if message.method != "tools/call" or not isinstance(arguments, dict):
        return 1.0
    name, ids = message.params.get("name"), arguments.get("ids")
    if name == "get_tool_details":
        return 1.0 + (_EACH_OF_MANY * min(len(ids), _MAX_IDS) if isinstance(ids, list) else 0.0)
    if name == "read_message":
        return 2.0 + _COUNTING * (_number(arguments, "budget_tokens", _MAX_TOKENS) or _MESSAGE_TOKENS) / _MAX_TOKENS
    if name not in _SEARCHES:
        return 1.0
    query, needs = arguments.get("query"), arguments.get("needs")
    limit = _number(arguments, "limit", 50) or _number(arguments, "max_results", 50) or 5
    texts = [query, *(needs[:_MAX_NEEDS] if isinstance(needs, list) else ())]
    asked = [text[:1000] for text in texts if isinstance(text, str)]
    units = sum(search_cost(text, limit=limit) for text in asked or [""])
    return units + _COUNTING * _number(arguments, "budget_tokens", _MAX_TOKENS) / _MAX_TOKENS


def is_call(message: Message) -> bool:
    """Return whether a request has a tool of another server called: it waits, and does no work here."""
    return message.method == "tools/call" and message.params.get("name") in CALLING


def asks_for_call(body: bytes) -> bool:
    """Return whether a request has a tool of another server called, and so may take long; a batch never counts.

    Examples
    --------
    >>> asks_for_call(b'{"jsonrpc": "2.0", "id": 1, "method": "tools\\/call", "params": {"name": "call_tool"}}')
    True
    """
    # Most requests call nothing, and are not read twice: without an escape a name is spelled as it is.
    if body.lstrip()[:1] != b"{" or (b"call_tool" not in body and b"\\" not in body):
        return False
    try:
        return is_call(message_of(read_body(body)))
    except RpcError:
        return False


def units_of(body: bytes) -> float:
    """Return about what a request costs, to choose a thread for it: a long one is not read twice, and taken for heavy.

    Examples
    --------
    >>> units_of(b'{"jsonrpc": "2.0", "method": "tools/list", "id": 1}'), units_of(b"no JSON")
    (1.0, 0.0)
    """
    if len(body) > _SHORT_BYTES:
        return HEAVY_UNITS
    try:
        return cost_of(message_of(read_body(body)))
    except RpcError:
        return 0.0


def check_batch(messages: Iterable[Message]) -> None:
    """Refuse a batch whose requests cost more than one may have.

    Raises
    ------
    RpcError
        Names the limit and what to do.
    """
    from skillroute.search.cost import MAX_UNITS  # noqa: PLC0415

    asked = list(messages)
    if any(is_call(message) for message in asked):
        raise RpcError(INVALID_REQUEST, "a batch has no tools of other servers called: send each call by itself")
    units = sum(cost_of(message) for message in asked)
    if units > MAX_UNITS:
        raise RpcError(
            INVALID_REQUEST,
            f"the requests of this batch cost as much as {units:.0f} plain searches together; {MAX_UNITS:.0f} are "
            "allowed: send fewer at once, or with shorter queries, a lower limit or a smaller budget_tokens",
        )


def _number(arguments: dict[str, Any], name: str, most: int) -> int:
    found = arguments.get(name)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 9:
        found = int(found)  # as the arguments of tools are read
    return max(0, min(most, found)) if isinstance(found, int) else 0
