"""Calls of tools through the agents' door: what the detour costs, and what bad servers do to good ones.

- *detour*: the official client calls a tool of a server of the official SDK by itself, and through ``/mcp`` of the
  laptop's server, in turn, one call after the other; and what function `call` takes for its event, against Skillroute's
  own client without database, rules, places and trace, in one process.
- *mixed*: calls over HTTP, so many at once, of two organisations in turn, a fifth each to servers that are good, hang,
  die within their answer, flood and drip a byte at a time. Over the limit: how much later than the limit of a call its
  answer came. Strangers: answers with anything of another call. Searches run meanwhile, and alone.

    python -m benchmarks.standing.calls --json results/calls.json
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
from skillroute.core.caller import Scope
from skillroute_local.loopback import free_port
from skillroute_local.tokens import TokenForm, TokenKey

from benchmarks.harness import Server, arguments, fresh_database, percentiles, print_table, save, serving
from benchmarks.standing.call_answers import Answer, planned, summed
from benchmarks.standing.call_detour import detour, of_function
from benchmarks.standing.call_servers import PATHS

Row = dict[str, Any]

_STATELESS = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
}
_ORGANISATIONS = ("acme", "globex")


@contextmanager
def servers_running() -> Iterator[str]:
    """Start the servers that are called, and lend where they are."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.standing.call_servers", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60.0
        while True:
            try:
                httpx.get(f"{url}/hanging/mcp", timeout=5.0)
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def registered(server: Server, at: str, token: str | None = None) -> dict[str, int]:
    """Register every server with its tool, and return the tools' ids."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    documents = [
        {"path": f"/{name}", "name": name, "remotes": [{"type": "streamable-http", "url": at + path}]}
        for name, path in PATHS.items()
    ]
    server.request("PUT", "/api/v1/servers", {"servers": documents}, headers=headers)
    schema = {"type": "object", "properties": {"nonce": {"type": "string"}}, "required": ["nonce"]}
    tools = [
        {
            "type": "tool",
            "name": "echo",
            "server": name,
            "description": f"Repeat a nonce, {name}.",
            "input_schema": schema,
        }
        for name in PATHS
    ]
    server.request("PUT", "/api/v1/tools", {"items": tools}, headers=headers)
    return {each["server"]: each["id"] for each in server.request("GET", "/api/v1/tools", headers=headers)}


async def called(client: httpx.AsyncClient, token: str, tool_id: int, kind: str, nonce: str) -> Answer:
    """Call a tool through the door."""
    params = {"name": "call_tool", "arguments": {"id": tool_id, "arguments": {"nonce": nonce}}, "_meta": _META}
    body = {"jsonrpc": "2.0", "id": nonce, "method": "tools/call", "params": params}
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": _STATELESS,
        "mcp-method": "tools/call",
        "mcp-name": "call_tool",
    }
    begun = time.perf_counter()
    response = await client.post("/mcp", json=body, headers=headers)
    took_s = time.perf_counter() - begun
    result = response.json().get("result", {"isError": True, "content": response.text})
    return Answer(kind, nonce, took_s, result.get("isError") is True, json.dumps(result))


@asynccontextmanager
async def searching(client: httpx.AsyncClient, token: str, pause_s: float = 0.05) -> AsyncIterator[list[float]]:
    """Search again and again meanwhile; lend the milliseconds of each."""
    taken: list[float] = []

    async def search() -> None:
        while True:
            begun = time.perf_counter()
            body = {"query": f"repeat a nonce {len(taken)}"}
            response = await client.post("/api/v1/search", json=body, headers={"authorization": f"Bearer {token}"})
            response.raise_for_status()
            taken.append(1000.0 * (time.perf_counter() - begun))
            await asyncio.sleep(pause_s)

    task = asyncio.create_task(search())
    try:
        yield taken
    finally:
        task.cancel()
        await asyncio.wait({task})


async def mixed(
    server: Server, tools: Mapping[str, int], tokens: Sequence[str], plan: Sequence[tuple[str, str]], at_once: int
) -> tuple[list[Answer], list[Row], Row]:
    """Make the calls of a plan, so many at once.

    Return what came, how long searches took alone and meanwhile, and the server's memory.
    """
    left = iter(enumerate(plan))
    answers: list[Answer] = []
    base = f"http://127.0.0.1:{server.port}"
    limits = httpx.Limits(max_connections=at_once + 1)
    async with httpx.AsyncClient(base_url=base, timeout=120.0, trust_env=False, limits=limits) as client:

        async def caller() -> None:
            for number, (kind, nonce) in left:
                answers.append(await called(client, tokens[number % len(tokens)], tools[kind], kind, nonce))

        async with searching(client, tokens[0]) as alone:
            await asyncio.sleep(5.0)
        begun, before = time.monotonic(), server.memory_mib()["now"]  # with the model of searches
        async with searching(client, tokens[0]) as meanwhile, asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(caller())
            while len(answers) < len(plan):
                await asyncio.sleep(0.1)
    rows = {"alone": alone, "meanwhile": meanwhile}
    memory = {"before_mib": before, "peak_mib": server.memory_mib()["peak"]}
    searches = [{"searches": name, "count": len(ms), "ms": percentiles(ms)} for name, ms in rows.items()]
    return answers, searches, memory | {"seconds": round(time.monotonic() - begun, 1)}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--detour", type=int, default=500, help="calls of each way (default: 500)")
    parser.add_argument("--mixed", type=int, default=1000, help="calls of bad and good servers (default: 1,000)")
    parser.add_argument("--at-once", type=int, default=20, help="of those (default: 20)")
    parser.add_argument("--limit-s", type=float, default=2.0, help="the most that each may take (default: 2)")
    args = parser.parse_args()
    with fresh_database() as url, servers_running() as at, tempfile.TemporaryDirectory() as folder:
        environment = {"SKILLROUTE_CALLS": "one", "SKILLROUTE_CALL_PRIVATE_HOSTS": at}
        with serving(url, environment=environment) as server:
            tools = registered(server, at)
            door = f"http://127.0.0.1:{server.port}/mcp"
            turns = asyncio.run(detour(door, at + PATHS["good"], tools["good"], args.detour))
        turns += of_function(url, at, at + PATHS["good"], tools["good"], args.detour)
        print_table("One call after the other", turns)
        key = TokenKey(Path(folder) / "key")
        tokens = [
            key.sign(TokenForm(), [Scope.SEARCH], org=org, subject=org, expires_in_s=3600) for org in _ORGANISATIONS
        ]
        environment |= {
            "SKILLROUTE_AUTH": "jwt",
            "SKILLROUTE_JWT_ISSUER": TokenForm().issuer,
            "SKILLROUTE_JWT_AUDIENCE": TokenForm().audience,
            "SKILLROUTE_JWT_KEYS": key.key_set(),
            "SKILLROUTE_CALL_TIMEOUT_S": str(args.limit_s),
        }
        with serving(url, environment=environment) as server:
            plan = planned(args.mixed, args.seed)
            answers, searches, memory = asyncio.run(mixed(server, tools, tokens, plan, args.at_once))
    rows = summed(answers, args.limit_s, percentiles)
    print_table(f"{args.mixed} calls, {args.at_once} at once, within {args.limit_s:g} s", rows)
    print_table("Searches", searches)
    print_table("Memory of the server", [memory])
    wrong = [answer for answer in answers if not answer.is_right]
    for answer in wrong[:5]:
        print(answer)
    save(args, "calls", {"detour": turns, "mixed": rows, "searches": searches, "memory": [memory]})


if __name__ == "__main__":
    main()
