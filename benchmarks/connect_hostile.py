"""A server that does its worst beside a good one, both behind `skillroute connect --http`.

For each kind of it: the median and the 95th percentile of the good one's calls while nothing else happens and while the
other one does so again and again, how many there were in ten seconds, and the most memory that `connect` had. The calls
are made by processes of their own, so that none waits for what another one reads.

    python benchmarks/connect_hostile.py
    python benchmarks/connect_hostile.py --command ../other/.venv/bin/skillroute --seconds 30
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
from rich.console import Console
from rich.table import Table

console = Console(width=130)
STUB = Path(__file__).parents[1] / "tests" / "stubs" / "mcp_server.py"
COMMAND = Path(sys.executable).with_name("skillroute")
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing": ("", {}),
    "1 MB a call": ("big", {"bytes": 1_000_000}),
    "15 MB a call": ("big", {"bytes": 15_000_000}),
    "50 MB a call": ("big", {"bytes": 50_000_000}),
    "100 MB a call": ("big", {"bytes": 100_000_000}),
    "200,000 bad lines a call": ("babble", {"lines": 200_000}),
    "200,000 lines of errors a call": ("babble", {"lines": 0, "errors": 200_000}),
}


@contextmanager
def serving(command: Path, *behaviours: str) -> Iterator[tuple[str, psutil.Process]]:
    """Serve stubs of these behaviours; yield the address and the process."""
    servers = {name: {"command": sys.executable, "args": [str(STUB), name]} for name in behaviours}
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "mcp.json"
        config.write_text(json.dumps({"mcpServers": servers}))
        with (Path(folder) / "stderr").open("wb") as stderr, subprocess.Popen(
            [str(command), "connect", "--config", str(config), "--http", "0"],
            stdout=subprocess.PIPE, stderr=stderr, env={"PATH": "/usr/bin:/bin", "SKILLROUTE_HOME": folder},
        ) as process:  # fmt: skip
            assert process.stdout is not None
            found = re.search(r"http://\S+/mcp", process.stdout.readline().decode())
            assert found
            try:
                yield found[0], psutil.Process(process.pid)
            finally:
                process.terminate()
                process.wait()


def ask(client: httpx.Client, url: str, id_: str, arguments: dict[str, Any]) -> bytes:
    """Call a tool by revision 2026-07-28, and return the answer's bytes."""
    name, given = ("search_tools", arguments) if not id_ else ("call_tool", {"id": id_, "arguments": arguments})
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given, "_meta": meta},
    }  # fmt: skip
    headers = {
        "mcp-protocol-version": "2026-07-28", "accept": "application/json, text/event-stream",
        "mcp-method": "tools/call", "mcp-name": name,
    }  # fmt: skip
    return client.post(url, json=message, headers=headers, timeout=300).content


def call_again_and_again(url: str, id_: str, arguments: dict[str, Any]) -> None:
    """Call until this process is ended."""
    with httpx.Client() as client:
        while True:
            with suppress(httpx.HTTPError):
                ask(client, url, id_, arguments)


def measure(command: Path, seconds: float, tool: str, given: dict[str, Any]) -> tuple[list[float], float]:
    """Return the milliseconds of the good one's calls, and the most megabytes."""
    with serving(command, "good", "hostile") as (url, process), httpx.Client() as client:
        answer = ask(client, url, "good/echo", {"text": "a"})
        assert b'"a"' in answer, answer
        for _ in range(100):
            ask(client, url, "good/echo", {"text": "a"})
        most, is_over = [0.0], threading.Event()

        def watch() -> None:
            while not is_over.wait(0.02):
                with suppress(psutil.Error):
                    most[0] = max(most[0], process.memory_info().rss / 1e6)

        watching = threading.Thread(target=watch)
        watching.start()
        arguments = [sys.executable, __file__, "--again", url, f"hostile/{tool}", json.dumps(given)]
        other = subprocess.Popen(arguments, stderr=subprocess.DEVNULL) if tool else None
        took: list[float] = []
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            began = time.perf_counter()
            ask(client, url, "good/echo", {"text": "a"})
            took.append((time.perf_counter() - began) * 1000)
            time.sleep(0.01)
        if other is not None:
            other.kill()
            other.wait()
        is_over.set()
        watching.join()
        return took, most[0]


def first_search(command: Path) -> tuple[float, float]:
    """Return the seconds to the first search's answer beside a server of 100,000 tools, and the most of a call's."""
    with serving(command, "good", "crowded") as (url, _), httpx.Client() as client:
        began = time.perf_counter()
        ask(client, url, "", {"query": "repeat a text"})
        searched = time.perf_counter() - began
        longest = 0.0
        while time.perf_counter() - began < 20:
            called = time.perf_counter()
            ask(client, url, "good/echo", {"text": "a"})
            longest = max(longest, time.perf_counter() - called)
        return searched, longest


def main(options: argparse.Namespace) -> None:
    """Measure every kind, and print what came of it."""
    table = Table("the other server", "calls", "p50 ms", "p95 ms", "longest ms", "most MB")
    for kind in options.kinds or KINDS:
        took, most = measure(options.command, options.seconds, *KINDS[kind])
        took.sort()
        figures = (statistics.median(took), took[int(len(took) * 0.95)], took[-1], most)
        table.add_row(kind, str(len(took)), *(f"{figure:.1f}" for figure in figures))
    console.print(table)
    searched, longest = first_search(options.command)
    console.print(
        f"100,000 tools: the first search after {searched:.1f} s, the good one's longest call {longest:.1f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, default=COMMAND, help="the skillroute that is measured")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS))
    parser.add_argument("--again", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.again:
        call_again_and_again(given.again[0], given.again[1], json.loads(given.again[2]))
    else:
        main(given)
