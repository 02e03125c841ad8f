"""Calls of tools wherever they are: on MCP servers and as HTTP operations, by one set of rules."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

from skillroute.calling.mcp_client.client import McpClient
from skillroute.calling.mcp_client.sessions import Sessions
from skillroute.calling.model import Endpoint, JsonObject, Limits, Operation, Progress
from skillroute.calling.operations import HttpOperations
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.outbound.guarded import Resolve, system_addresses
from skillroute.core.outbound.hosts import HostRules


class GuardedTools:
    """The `RemoteTools` that go out over guarded connections. Safe to share between tasks, event loops and threads.

    Parameters
    ----------
    rules : HostRules
    sessions : Sessions, optional
    context : ssl.SSLContext, optional
        Of TLS.
    resolve : callable
        Looks up names.
    """

    def __init__(
        self,
        rules: HostRules,
        *,
        sessions: Sessions | None = None,
        context: ssl.SSLContext | None = None,
        resolve: Resolve = system_addresses,
    ) -> None:
        self._mcp = McpClient(rules, sessions=sessions, context=context, resolve=resolve)
        self._http = HttpOperations(rules, context=context, resolve=resolve)

    async def call(
        self,
        endpoint: Endpoint,
        name: str,
        arguments: JsonObject,
        *,
        credentials: Credentials,
        limits: Limits,
        progress: Progress | None = None,
    ) -> JsonObject:
        """Return the result of ``tools/call`` as it came. Raises `CallFailed`."""
        return await self._mcp.call(
            endpoint, name, arguments, credentials=credentials, limits=limits, progress=progress
        )

    async def list_tools(self, endpoint: Endpoint, *, credentials: Credentials, limits: Limits) -> Sequence[JsonObject]:
        """Return all pages of ``tools/list``, as they came. Raises `CallFailed`."""
        return await self._mcp.list_tools(endpoint, credentials=credentials, limits=limits)

    async def call_operation(
        self, operation: Operation, arguments: JsonObject, *, credentials: Credentials, limits: Limits
    ) -> JsonObject:
        """Return the answer of an operation in the form of ``tools/call``. Raises `CallFailed`."""
        return await self._http.call_operation(operation, arguments, credentials=credentials, limits=limits)
