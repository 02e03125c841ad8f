"""What tests of MCP servers share: stubs of tests/stubs/mcp_server.py, by their behaviour."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillroute_local.mcp_servers.model import StdioServer

STUB = Path(__file__).parents[3] / "stubs" / "mcp_server.py"

Stub = Callable[..., StdioServer]


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run under asyncio, as the command does."""
    return "asyncio"


@pytest.fixture
def stub() -> Stub:
    """What makes a server of a behaviour, named after it."""

    def make(behaviour: str, *files: Path, name: str | None = None) -> StdioServer:
        arguments = (str(STUB), behaviour, *map(str, files))
        return StdioServer(name or behaviour, f"mcp.json: mcpServers.{behaviour}", sys.executable, arguments)

    return make
