"""Doubles of what stands behind a call: servers that answer as a test says, and the credentials of callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillroute.calling.model import (
    CallFailed,
    Endpoint,
    JsonObject,
    Limits,
    Operation,
    Progress,
)
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.outbound.credentials import Credentials, LoginNeeded, ServerRef

from tests.builders import System

REMOTE = {"remotes": [{"type": "streamable-http", "url": "https://tools.example.com/mcp"}]}
DONE: JsonObject = {"content": [{"type": "text", "text": "done"}], "structuredContent": {"done": True}}


@dataclass(frozen=True)
class Asked:
    """One request that came to the servers."""

    at: Endpoint | Operation
    name: str
    arguments: JsonObject
    headers: dict[str, str]
    session_key: str
    limits: Limits


@dataclass
class ScriptedServers:
    """`RemoteTools` whose answers a test sets: a result, an error, or what is to be done."""

    answers: list[JsonObject | CallFailed | Callable[[Progress | None], Awaitable[JsonObject]]] = field(
        default_factory=list
    )
    asked: list[Asked] = field(default_factory=list)
    given_up: int = 0

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
        self._note(endpoint, name, arguments, credentials, limits)
        return await self._answer(progress)

    async def call_operation(
        self, operation: Operation, arguments: JsonObject, *, credentials: Credentials, limits: Limits
    ) -> JsonObject:
        self._note(operation, "", arguments, credentials, limits)
        return await self._answer(None)

    async def list_tools(self, endpoint: Endpoint, *, credentials: Credentials, limits: Limits) -> Sequence[JsonObject]:
        raise NotImplementedError

    def _note(
        self, at: Endpoint | Operation, name: str, arguments: JsonObject, credentials: Credentials, limits: Limits
    ) -> None:
        self.asked.append(Asked(at, name, arguments, dict(credentials.headers), credentials.session_key, limits))

    async def _answer(self, progress: Progress | None) -> JsonObject:
        answer = self.answers.pop(0) if self.answers else DONE
        if isinstance(answer, CallFailed):
            raise answer
        if isinstance(answer, dict):
            return answer
        try:
            return await answer(progress)
        except asyncio.CancelledError:
            self.given_up += 1
            raise


@dataclass
class KnownIdentities:
    """`Identities` that has a token for some callers, and one more for each after a refusal."""

    tokens: dict[str | None, list[str]] = field(default_factory=dict)
    passed_on: list[str | None] = field(default_factory=list)
    refused_by: list[str | None] = field(default_factory=list)

    def credentials(self, server: ServerRef, caller: Caller, token: str | None) -> Credentials:
        self.passed_on.append(token)
        return self._next(caller)

    def renewed(self, server: ServerRef, caller: Caller, refused: Credentials, challenge: str | None) -> Credentials:
        self.refused_by.append(challenge)
        return self._next(caller)

    def login_link(self, server: ServerRef, caller: Caller, scopes: tuple[str, ...], base_url: str) -> str | None:
        return f"{base_url}/log-in/{server.id}/{caller.name}/{'+'.join(scopes)}"

    def _next(self, caller: Caller) -> Credentials:
        if caller.name not in self.tokens:
            return Credentials(session_key=f"{caller.org_id}/{caller.name}")
        if not self.tokens[caller.name]:
            raise LoginNeeded("you are not logged in at tools: log in with `skillroute login 1`", helps=True)
        token = self.tokens[caller.name].pop(0)
        return Credentials({"Authorization": f"Bearer {token}"}, f"{caller.org_id}/{caller.name}")


def behind(system: System) -> tuple[ScriptedServers, KnownIdentities]:
    """Put doubles behind a system's calls, and return them."""
    servers, identities = ScriptedServers(), KnownIdentities()
    vars(system.parts.calling).update(remote=servers, identities=identities)
    return servers, identities


def callable_tool(system: System, name: str = "send", caller: Caller | None = None, **fields: Any) -> int:
    """Register the server `tools` with an address, and return the id of a tool of it."""
    owner = LAPTOP if caller is None else caller
    system.put_server("/tools", owner, **REMOTE)
    [id_] = system.put(name, server="tools", caller=owner, **fields)
    return id_
