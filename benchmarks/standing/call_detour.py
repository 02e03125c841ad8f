"""One call after the other, by itself and through the door in turn: what `calls.py` measures of the detour."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from mcp import Client
from skillroute.calling.invocation import event_of
from skillroute.calling.model import Endpoint, Limits
from skillroute.calling.tool_call import ToolCall
from skillroute.core.caller import LAPTOP
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.settings import CallFunctionSettings
from skillroute.wiring import Parts, call_handler

from benchmarks.harness import percentiles

Row = dict[str, Any]


async def timed(client: Client, tool: str, given: Mapping[str, Any]) -> float:
    """Return the milliseconds of a call by the official client."""
    begun = time.perf_counter()
    result = await client.call_tool(tool, dict(given))
    took_ms = 1000.0 * (time.perf_counter() - begun)
    if result.is_error:
        raise RuntimeError(str(result.content))
    return took_ms


async def detour(door: str, at: str, tool_id: int, calls: int, warm: int = 20) -> list[Row]:
    """Call by itself and through the door, in turn."""
    alone: list[float] = []
    through: list[float] = []
    given = {"nonce": "1"}
    async with Client(at) as server, Client(door) as agent:
        for _ in range(calls + warm):
            alone.append(await timed(server, "echo", given))
            through.append(await timed(agent, "call_tool", {"id": tool_id, "arguments": given}))
    taken = {"by itself": alone, "through /mcp": through}
    return [{"calls": name, "count": calls, "ms": percentiles(times[warm:])} for name, times in taken.items()]


def of_function(url: str, hosts: str, at: str, tool_id: int, calls: int, warm: int = 20) -> list[Row]:
    """Have function `call` answer events, and its client call by itself, in turn."""
    parts = Parts(CallFunctionSettings(database_url=url, calls="one", call_private_hosts=hosts))
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 30_000)
    taken: dict[str, list[float]] = {"client by itself": [], "function call": []}
    event = json.loads(json.dumps(event_of(ToolCall(tool_id, {"nonce": "1"}), LAPTOP)))
    try:
        handler = call_handler(parts=parts)
        remote, credentials, limits = parts.calling.remote, Credentials(session_key="one"), Limits(20.0, 4_000_000)
        with asyncio.Runner() as runner:
            for _ in range(calls + warm):
                begun = time.perf_counter()
                runner.run(remote.call(Endpoint(at), "echo", {"nonce": "1"}, credentials=credentials, limits=limits))
                between = time.perf_counter()
                answer = handler(event, context)
                taken["client by itself"].append(1000.0 * (between - begun))
                taken["function call"].append(1000.0 * (time.perf_counter() - between))
                if answer["result"].get("isError"):
                    raise RuntimeError(str(answer))
    finally:
        parts.close()
    return [{"calls": name, "count": calls, "ms": percentiles(times[warm:])} for name, times in taken.items()]
