"""A connection to one MCP server: everything that it lists, calls, and what it says of changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from skillroute_local.mcp_servers.errors import as_sent, as_server_error, ends_connection
from skillroute_local.mcp_servers.incoming import Tap
from skillroute_local.mcp_servers.model import (
    EVERY_KIND,
    LISTS,
    Limits,
    Listed,
    ListedKind,
    Listing,
    McpServer,
    ServerError,
)
from skillroute_local.mcp_servers.resource_names import resource_name
from skillroute_local.mcp_servers.stderr import StderrTail
from skillroute_local.terminal_text import harmless

_LISTEN_AGAIN_S = 5.0

_RAW: TypeAdapter[Any] = TypeAdapter(dict[str, Any])


class Connection:
    """A server that answered the handshake. Made by `client.connected`; usable by many tasks at once."""

    def __init__(
        self,
        server: McpServer,
        client: Client,
        tap: Tap,
        stderr: StderrTail,
        limits: Limits,
        on_change: Callable[[], None],
    ) -> None:
        self.server = server
        self._client = client
        self._tap = tap
        self._stderr = stderr
        self._limits = limits
        self._on_change = on_change
        self._listing = anyio.Lock()  # the tap keeps one page

    @property
    def has_ended(self) -> bool:
        """Whether the server has closed its side, has lost the session, or no longer reads."""
        return self._tap.ended.is_set()

    async def wait_ended(self) -> None:
        """Wait until the server has closed its side, as a program that died has, or must be connected to again."""
        await self._tap.ended.wait()

    async def list_all(self) -> Listing:
        """Return its tools, prompts and resources.

        A list that fails is a problem of the listing, if another one succeeds; entries that are wrong are left out.

        Raises
        ------
        ServerError
            It is gone, or none of its lists can be had in time.
        """
        items: list[Listed] = []
        problems: list[str] = []
        failed: ServerError | None = None
        missing = set(self._kinds())
        listed = 0
        deadline = anyio.current_time() + self._limits.list_s
        async with self._listing:
            for kind in self._kinds():
                try:
                    with anyio.fail_at(deadline):
                        items += await self._list(kind, problems)
                    listed += 1
                    missing.remove(kind)
                except (MCPError, ValidationError, TimeoutError) as error:
                    why = self._error(error, LISTS[kind][0], self._limits.list_s)
                    problems.append(str(why))
                    failed = failed or why
                    if isinstance(error, TimeoutError):
                        break
        if failed is not None and not listed:
            raise failed
        info = self._client.server_info
        return Listing(
            tuple(items),
            (info.title or info.name) if info else "",
            info.version if info else "",
            self._client.instructions or "",
            tuple(map(harmless, problems)),
            EVERY_KIND - missing,
        )

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: ProgressFnT | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """Call a tool and return its result as it came, tool errors included.

        A cancelled call is cancelled at the server.

        Raises
        ------
        MCPError
            The server answered with an error of the protocol; passed on as it is.
        ServerError
            It is gone, does not answer in time, or its answer is no result of a call.
        """
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=dict(arguments)))
        timeout_s = self._limits.call_s if timeout_s is None else timeout_s
        return await self._asked(request, f"tool {name}", timeout_s, progress)

    async def _asked(
        self,
        request: types.ClientRequest | types.Request[Any, Any],
        what: str,
        timeout_s: float,
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        try:
            result: dict[str, Any] = await self._client.session.send_request(
                request, _RAW, request_read_timeout_seconds=timeout_s, progress_callback=progress
            )
            return result
        except MCPError as error:
            if (sent := as_sent(error)) is not None:
                raise sent from None
            if ends_connection(error):
                self._tap.ended.set()
            raise self._error(error, what, timeout_s) from error
        except (ValidationError, OSError) as error:
            raise self._error(error, what, timeout_s) from error

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return a prompt's messages as they came. Raises as `call` does."""
        params = types.GetPromptRequestParams(name=name, arguments=dict(arguments))
        return await self._asked(types.GetPromptRequest(params=params), f"prompt {name}", self._limits.call_s)

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Return a resource's contents as they came. Raises as `call` does."""
        params = types.ReadResourceRequestParams(uri=uri)
        return await self._asked(types.ReadResourceRequest(params=params), f"resource {uri}", self._limits.call_s)

    def has_extension(self, name: str) -> bool:
        """Return whether the server has declared an extension of the protocol."""
        return name in (self._client.server_capabilities.extensions or {})

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of an extension, and return its result as it came. Raises as `call` does."""
        request = types.Request[dict[str, Any], str](method=method, params=dict(params))
        return await self._asked(request, method, self._limits.call_s)

    async def follow_changes(self) -> None:
        """Call `on_change` for changes of lists, where the revision wants them asked for; else return at once."""
        while not self.has_ended:
            try:
                async with self._client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as events:
                    async for _ in events:
                        self._on_change()
                return
            except SubscriptionLost:  # what happened meanwhile was not told
                self._on_change()
                await anyio.sleep(_LISTEN_AGAIN_S)
            except (ListenNotSupportedError, MCPError, ValidationError, TimeoutError, OSError):
                return  # of an older revision, which tells of them unasked; or it does not tell

    def _kinds(self) -> list[ListedKind]:
        has = self._client.server_capabilities
        kinds: list[tuple[ListedKind, object]] = [
            ("tool", has.tools), ("prompt", has.prompts), ("resource", has.resources)
        ]  # fmt: skip
        return [kind for kind, capability in kinds if capability is not None]

    async def _list(self, kind: ListedKind, problems: list[str]) -> list[Listed]:
        """Return all entries of a kind, up to the limits; what was left out is added to the problems."""
        session = self._client.session
        ask: Callable[..., Awaitable[Any]] = {
            "tool": session.list_tools, "prompt": session.list_prompts, "resource": session.list_resources
        }[kind]  # fmt: skip
        found: dict[str, Listed] = {}
        uris: dict[str, str] = {}
        cursor: str | None = None
        before: set[str] = set()
        for _ in range(self._limits.pages):
            page = await ask(params=types.PaginatedRequestParams(cursor=cursor))
            problems += [f"{self.server.name}: {refused}" for refused in self._tap.refused]
            for entry in self._tap.entries:
                name = resource_name(entry["name"], entry["uri"], uris) if kind == "resource" else entry["name"]
                if kind == "tool" and not self.server.tools.takes(name):
                    continue
                if name in found:
                    problems.append(f"{self.server.name}: {kind} {name} is listed twice: the first one is taken")
                else:
                    found[name] = Listed(kind, name, entry)
            cursor = page.next_cursor
            if not cursor or len(found) > self._limits.items:
                break
            if cursor in before:
                problems.append(f"{self.server.name}: {LISTS[kind][0]} repeats the cursor {cursor[:80]!r}")
                break
            before.add(cursor)
        else:
            problems.append(f"{self.server.name}: {kind}s after page {self._limits.pages} are left out")
        if len(found) > self._limits.items:
            problems.append(f"{self.server.name}: {kind}s after the first {self._limits.items} are left out")
        return list(found.values())[: self._limits.items]

    def _error(self, error: Exception, asked: str, timeout_s: float) -> ServerError:
        return as_server_error(self.server, error, asked, timeout_s, self._stderr.last())
