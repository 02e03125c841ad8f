"""Arguments that a tool wants repeated in headers: `x-mcp-header` of its input schema (revision 2026-07-28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.calling.exchange import is_header
from skillroute.calling.mcp_client.messages import header_value
from skillroute.calling.mcp_client.sessions import Paths

_MAX_HEADERS = 50
_MAX_DEPTH = 20


def paths_of(schema: Any) -> Paths:
    """Return the names of headers by the arguments that they repeat.

    Examples
    --------
    >>> paths_of({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
    {('region',): 'Region'}
    """
    found: Paths = {}
    stack: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while stack and len(found) < _MAX_HEADERS:
        path, node = stack.pop()
        if not isinstance(node, dict):
            continue
        name = node.get("x-mcp-header")
        if path and isinstance(name, str) and is_header(name, ""):
            found[path] = name
        properties = node.get("properties")
        if isinstance(properties, dict) and len(path) < _MAX_DEPTH:
            stack.extend(((*path, key), inner) for key, inner in properties.items())
    return found


def headers_for(paths: Paths, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a call.

    Examples
    --------
    >>> headers_for({("region",): "Region", ("dry",): "Dry"}, {"region": "eu", "dry": True})
    {'mcp-param-region': 'eu', 'mcp-param-dry': 'true'}
    """
    headers = {}
    for path, name in paths.items():
        value: Any = arguments
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            headers[f"mcp-param-{name.lower()}"] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            headers[f"mcp-param-{name.lower()}"] = header_value(str(value))
    return headers
