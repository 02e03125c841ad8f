"""The server whose credentials a call gets: that of the address which they are for."""

from __future__ import annotations

import asyncio

import pytest
from skillroute.calling.tool_call import ToolCall
from skillroute.core.caller import LAPTOP

from tests.builders import lent_system
from tests.doubles import EdgeIndexes
from tests.worlds.calling import REMOTE, behind


@pytest.mark.parametrize(
    ("url", "path", "is_its_own"),
    [
        ("https://tools.example.com/mcp", "/pets", True),
        ("https://tools.example.com/mcp/v1/", "/pets/{id}", True),
        ("https://tools.example.com:443/mcp/v1", "/", True),
        ("https://tools.example.com/v1", "/", False),
        ("https://tools.example.com/mcp-of-others", "/", False),
        ("https://tools.example.com", "/mcp/pets", False),
        ("https://tools.example.com/mcp/../v1", "/", False),
        ("https://tools.example.com/mcp", "/%2E%2e/v1", False),
        ("https://tools.example.com/mcp", "/..\\v1", False),
        ("https://tools.example.com:8443/mcp", "/", False),
        ("http://tools.example.com/mcp", "/", False),
        ("https://tools.example.com@evil.example/mcp", "/", False),
    ],
)
def test_credentials_go_below_the_address_that_the_server_is_registered_with_alone(
    database_url: str, edge_indexes: EdgeIndexes, url: str, path: str, is_its_own: bool
) -> None:
    """Other paths of the host may be those of others."""
    with lent_system(database_url, edge_indexes, calls="both") as system:
        servers, identities = behind(system)
        identities.tokens[None] = ["secret-1"]
        system.put_server("/pets", **REMOTE)
        [id_] = system.put("pet", server="pets", metadata={"http": {"method": "GET", "url": url, "path": path}})
        asyncio.run(system.parts.calling.call_tool(ToolCall(id_, {}), LAPTOP))
        sent = {"Authorization": "Bearer secret-1"} if is_its_own else {}
        assert [asked.headers for asked in servers.asked] == [sent]
