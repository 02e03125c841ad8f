"""The programs of PyPI and npm behind a small HTTP bridge: what comes is passed on to the program's standard input."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult
from skillroute_local.loopback import listen

from tests.e2e.company import app_of

_WITHIN_S = 60.0


def programs(path: str | None, work: Path) -> dict[str, list[str]]:
    """Return the commands of the servers that `make test-company` installed into the folders; they see `work` alone."""
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    given = {"time": [], "git": ["--repository", str(work)], "filesystem": [str(work)], "everything": []}
    commands = {}
    for name, arguments in given.items():
        program = shutil.which(f"mcp-server-{name}", path=path)
        assert program is not None, f"mcp-server-{name} is not in {path}"
        commands[name] = [program, *arguments]
    return commands


@contextmanager
def server_of_program(server: str, command: list[str], called: Counter[tuple[str, str]]) -> Iterator[str]:
    """Start a program and serve its tools over streamable HTTP; lend the address."""
    sock = listen()
    started = threading.Event()
    running: list[uvicorn.Server] = []

    async def bridge() -> None:
        async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
            tools = (await client.list_tools()).tools

            async def answer(name: str, arguments: dict[str, Any]) -> CallToolResult:
                return await client.call_tool(name, arguments)

            app = app_of(server, tools, answer, called)
            running.append(uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False)))
            started.set()
            await running[0].serve(sockets=[sock])

    thread = threading.Thread(target=lambda: asyncio.run(bridge()), name=f"bridge of {server}")
    thread.start()
    try:
        assert started.wait(_WITHIN_S), f"{command[0]} does not start"
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"
    finally:
        for each in running:
            each.should_exit = True
        thread.join(_WITHIN_S)
        sock.close()
