"""`skillroute connect` over servers that were not written here, used by the official client.

For each call of a file: is it found by search, is the answer that of a direct call, and what does the detour add. Then
the time from the start of the process to the answer of the first search: at the very first start, and at the next one,
when vectors and listings are kept. Calls are made in turn, directly and through `connect`, so that both see the same
machine.

    pip install mcp-server-time mcp-server-git
    npm install @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-everything
    python benchmarks/connect.py --config mcp.json --calls benchmarks/connect_calls.json --repeat 200
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult
from rich.console import Console
from rich.table import Table
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import StdioServer

console = Console(width=130)
COMMAND = Path(sys.executable).with_name("skillroute")


def through(config: Path, cache: Path) -> StdioServerParameters:
    """Return how to start `connect`, with a folder of its own for what it keeps."""
    env = {"SKILLROUTE_HOME": str(cache)}
    return StdioServerParameters(command=str(COMMAND), args=["connect", "--config", str(config)], env=env)


def direct(server: StdioServer) -> StdioServerParameters:
    """Return how to start a server itself."""
    return StdioServerParameters(
        command=server.command, args=list(server.args), env=dict(server.env) or None, cwd=server.cwd
    )


async def first_search(config: Path, cache: Path, query: str) -> tuple[float, float]:
    """Return the seconds from the start to the handshake, and to the answer of the first search."""
    started = time.perf_counter()
    async with Client(through(config, cache)) as client:
        connected = time.perf_counter() - started
        await client.call_tool("search_tools", {"query": query})
        return connected, time.perf_counter() - started


def shown(answer: CallToolResult) -> dict[str, Any]:
    """Return what of an answer must be the same."""
    whole = answer.model_dump(mode="json", by_alias=True)
    return {name: whole[name] for name in ("content", "structuredContent", "isError")}


async def timed(client: Client, name: str, arguments: dict[str, Any]) -> tuple[float, CallToolResult]:
    """Return the milliseconds that a call took, and its answer."""
    started = time.perf_counter()
    answer = await client.call_tool(name, arguments)
    return (time.perf_counter() - started) * 1000, answer


async def compare(config: Path, calls: list[dict[str, Any]], repeat: int, cache: Path) -> None:
    """Make every call both ways, and print what came of it."""
    servers = {server.name: server for server in read_servers(config).servers if isinstance(server, StdioServer)}
    table = Table(
        "tool", "found as", "answer", "direct p50 ms", "through p50 ms", "added p50", "added p95", "added least"
    )
    async with AsyncExitStack() as stack:
        connect = await stack.enter_async_context(Client(through(config, cache)))
        clients: dict[str, Client] = {}
        for call in calls:
            server, _, name = call["id"].partition("/")
            if server not in servers:
                continue
            if server not in clients:
                clients[server] = await stack.enter_async_context(Client(direct(servers[server])))
            found = await connect.call_tool("search_tools", {"query": call["query"], "limit": 5})
            ids = [tool["id"] for tool in found.structured_content["tools"]]
            rank = str(ids.index(call["id"]) + 1) if call["id"] in ids else "not found"
            asked = {"id": call["id"], "arguments": call["arguments"]}
            there, here, same = [], [], True
            for _ in range(repeat):
                own, expected = await timed(clients[server], name, call["arguments"])
                other, answer = await timed(connect, "call_tool", asked)
                there.append(own)
                here.append(other)
                same = same and (call.get("varies") or shown(answer) == shown(expected))
            added = sorted(b - a for a, b in zip(there, here, strict=True))
            p50, p50_through = statistics.median(there), statistics.median(here)
            figures = (p50, p50_through, p50_through - p50, added[int(len(added) * 0.95)], min(here) - min(there))
            answer_is = "unchanged" if same else "[red]changed[/]"
            table.add_row(call["id"], rank, answer_is, *(f"{figure:.1f}" for figure in figures))
    console.print(table)


async def main(options: argparse.Namespace) -> None:
    """Measure."""
    calls = json.loads(options.calls.read_text())
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        for start in ("first start", "next start"):
            connected, searched = await first_search(options.config, cache, calls[0]["query"])
            console.print(f"{start}: handshake after {connected:.2f} s, first search answered after {searched:.2f} s")
        await compare(options.config, calls, options.repeat, cache)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True, help="mcp.json with the servers of the calls")
    parser.add_argument("--calls", type=Path, default=Path(__file__).with_name("connect_calls.json"))
    parser.add_argument("--repeat", type=int, default=200)
    anyio.run(main, parser.parse_args())
