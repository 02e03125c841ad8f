"""What tests of `connect` share: the packaged model, and the server for agents over stubs, with a client at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.tokens import TokenCounter
from skillroute.core.settings import EmbeddingSettings
from skillroute.wiring.providers import make_embedder
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.serve import AgentServer
from skillroute_local.connect.store import Store
from skillroute_local.mcp_servers.model import Limits, McpServer

from tests.integration.local.mcp_servers.conftest import anyio_backend, stub

__all__ = ["anyio_backend", "stub"]

Agent = Callable[..., AbstractAsyncContextManager[Client]]

LIMITS = Limits(connect_s=3, list_s=3, call_s=20)


@pytest.fixture(scope="session")
def model() -> Embedder:
    return make_embedder(EmbeddingSettings())


@pytest.fixture
def agent(model: Embedder) -> Agent:
    """What connects a client to the servers that it is given, once something is known of each."""

    @asynccontextmanager
    async def connect(
        *servers: McpServer,
        pins: Sequence[str] = (),
        offer: Offer | None = None,
        limits: Limits = LIMITS,
        store: Store | None = None,
        **client: Any,
    ) -> AsyncIterator[Client]:
        count = TokenCounter(models_dir() / default_model() / "tokenizer.json")
        front = Front(servers, model, count, offer=offer or Offer(tuple(pins)), store=store, limits=limits)
        server = AgentServer(front)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run)
            async with Client(server.mcp, cache=None, **client) as connected:
                yield connected
            tasks.cancel_scope.cancel()

    return connect
