"""The card of `/mcp`: what clients read before they connect (SEP-2127, a draft)."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from skillroute import __version__
from skillroute.mcp.revisions import ALL

CARD_TYPE = "application/mcp-server-card+json"
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


def server_card(url: str) -> dict[str, Any]:
    """Return the card of the server at a URL. It names no tools: those are listed to callers who may use them."""
    return {
        "$schema": _SCHEMA,
        "name": f"{_namespace(urlsplit(url).hostname or '')}/skillroute",
        "title": "Skillroute",
        "description": "Finds the tools that fit a task, among thousands.",
        "version": __version__,
        "remotes": [{"type": "streamable-http", "url": url, "supportedProtocolVersions": list(ALL)}],
    }


def _namespace(host: str) -> str:
    """Return a host in reverse DNS form; one without a domain is this machine."""
    try:
        ip_address(host)
    except ValueError:
        return ".".join(reversed(host.split("."))) if _HOST.fullmatch(host) else "local"
    return "local"
