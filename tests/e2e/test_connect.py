"""`skillroute connect` as agents start it: a process that speaks MCP over its standard streams, or over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import psutil
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from skillroute_local.connect.upstream import Upstream
from skillroute_local.loopback import free_port
from skillroute_local.mcp_servers.listing import list_servers
from skillroute_local.mcp_servers.model import HttpServer, Listing, McpServer, ServerError

from tests.e2e.processes import HASHING, cli, environment, eventually

STUB = Path(__file__).parents[1] / "stubs" / "mcp_server.py"
_CLI = "import sys; sys.argv[0] = 'skillroute'; from skillroute_local.cli import main; main()"
_INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip

Config = Callable[..., Path]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """What writes an mcp.json with stubs of some behaviours."""

    def write(*behaviours: str) -> Path:
        starts = str(tmp_path / "starts")
        servers = {name: {"command": sys.executable, "args": [str(STUB), name, starts]} for name in behaviours}
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path

    return write


def command(path: Path, *more: str) -> list[str]:
    return ["-c", _CLI, "connect", "--config", str(path), *more]


def living(tmp_path: Path) -> list[int]:
    """Return the servers behind it that still run."""
    pids = [int(line) for line in (tmp_path / "starts").read_text().split()]
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


def test_an_agent_finds_and_calls_over_standard_streams_and_leaves_nothing_behind(
    config: Config, tmp_path: Path
) -> None:
    steps: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async def use() -> None:
        env = environment(tmp_path / "home", **HASHING)
        server = StdioServerParameters(command=sys.executable, args=command(config("good", "dying")), env=env)
        async with Client(server) as client:
            assert client.protocol_version == "2026-07-28"
            found = await client.call_tool("search_tools", {"query": "echo"})
            assert found.structured_content["tools"][0]["id"] == "good/echo"
            answer = await client.call_tool("call_tool", {"id": "good/count"}, progress_callback=note)
            assert answer.content[0].text == "three"
        assert steps == ["step 1", "step 2", "step 3"]

    anyio.run(use)
    assert living(tmp_path) == []
    assert (tmp_path / "home" / "connect.sqlite3").exists()


def test_an_agent_is_served_by_threads_where_the_loop_reads_no_pipes(config: Config, tmp_path: Path) -> None:
    """As on Windows. The large answer takes many reads of a pipe, and the agent leaves while a thread still reads."""
    code = f"from skillroute_local.connect import stdio; stdio._LOOP_READS_PIPES = False; {_CLI}"
    text = "long " * 100_000

    async def use() -> None:
        args = ["-c", code, *command(config("good"))[2:]]
        env = environment(tmp_path / "home", **HASHING)
        async with Client(StdioServerParameters(command=sys.executable, args=args, env=env)) as client:
            answer = await client.call_tool("call_tool", {"id": "good/echo", "arguments": {"text": text}})
            assert answer.content[0].text == text

    anyio.run(use)
    assert living(tmp_path) == []


def test_standard_output_is_the_protocols_whatever_servers_do(config: Config, tmp_path: Path) -> None:
    requests: list[dict[str, Any]] = [
        _INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "search_tools", "arguments": {"query": "echo"}}},
    ]  # fmt: skip
    with (tmp_path / "stderr").open("wb") as stderr, subprocess.Popen(
        [sys.executable, *command(config("good", "lying", "dying"), "--verbose")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment(tmp_path / "home", **HASHING),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"hello\n" + "".join(json.dumps(request) + "\n" for request in requests).encode())
        process.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(3))}
        assert answers[None]["error"]["code"] == -32700
        assert answers[1]["result"]["serverInfo"]["name"] == "skillroute"
        assert "good/echo" in answers[2]["result"]["content"][0]["text"]
        # WHEN it is asked to end, THEN it does, although the agent's side is still open, and the servers with it
        process.terminate()
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
    assert living(tmp_path) == []
    messages = (tmp_path / "stderr").read_text()
    assert "skillroute: lying: tool wordy: inputSchema: " in messages
    assert "skillroute: dying: its program ended before it answered the handshake" in messages
    assert "skillroute: dying wrote: the token is missing" in messages
    assert "Traceback" not in messages


def test_programs_that_servers_have_started_end_when_it_is_asked_to(config: Config, tmp_path: Path) -> None:
    spawn = {"name": "call_tool", "arguments": {"id": "hostile/spawn"}}
    requests: list[dict[str, Any]] = [
        _INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": spawn},
    ]
    with subprocess.Popen(
        [sys.executable, *command(config("hostile"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path / "home", **HASHING),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(request) + "\n" for request in requests).encode())
        process.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(2))}
        child = psutil.Process(int(answers[2]["result"]["content"][0]["text"]))
        process.terminate()
        assert process.wait(20) == 0
    eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, "the child is ended")


def test_no_program_outlives_connect_that_is_killed(config: Config, tmp_path: Path) -> None:
    spawn = {"name": "call_tool", "arguments": {"id": "hostile/spawn"}}
    requests: list[dict[str, Any]] = [
        _INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": spawn},
    ]
    with subprocess.Popen(
        [sys.executable, *command(config("hostile", "good"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path / "home", **HASHING),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(request) + "\n" for request in requests).encode())
        process.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(2))}
        # a program that its server has started, which ignores SIGTERM and has no input that is closed
        child = psutil.Process(int(answers[2]["result"]["content"][0]["text"]))
        process.kill()
    eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, "the child is ended")
    eventually(lambda: not living(tmp_path), "the servers are ended")


def test_it_serves_over_http_on_loopback_and_no_page_of_another_site(config: Config, tmp_path: Path) -> None:
    async def use(url: str) -> None:
        for mode in ("auto", "legacy"):
            async with Client(url, mode=mode) as client:
                answer = await client.call_tool("call_tool", {"id": "good/echo", "arguments": {"text": mode}})
                assert answer.content[0].text == mode

    with (tmp_path / "stderr").open("wb") as stderr, subprocess.Popen(
        [sys.executable, *command(config("good"), "--http", "0")],
        stdout=subprocess.PIPE, stderr=stderr, env=environment(tmp_path / "home", **HASHING),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        found = re.search(r"serving 1 server at (http://localhost:\d+/mcp)", process.stdout.readline().decode())
        assert found
        anyio.run(use, found[1])
        [listing] = list_servers([HttpServer("front", "mcp.json: front", found[1])])
        assert isinstance(listing, Listing)
        assert [item.name for item in listing.items] == ["search_tools", "get_tool_details", "call_tool"]
        foreign = httpx.post(found[1], json=_INITIALIZE, headers={"origin": "http://elsewhere.example"})
        assert foreign.status_code == 403
        process.terminate()
        assert process.wait(20) == 0
    assert living(tmp_path) == []
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_a_server_behind_http_that_is_killed_is_an_error_and_works_when_it_is_back(
    config: Config, tmp_path: Path
) -> None:
    path, port = config("good"), free_port()
    env = environment(tmp_path / "home", **HASHING)

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *command(path, "--http", str(port))],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"serving 1 server")
        process.stdout.close()
        return process

    async def ignore(_: McpServer, __: Listing) -> None:
        return

    async def use() -> None:
        async def echo(text: str) -> str:
            result = await upstream.call("call_tool", {"id": "good/echo", "arguments": {"text": text}}, None)
            found: str = result["content"][0]["text"]
            return found

        process = await anyio.to_thread.run_sync(start)
        upstream = Upstream(HttpServer("far", "mcp.json: far", f"http://localhost:{port}/mcp"), ignore)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(upstream.run)
                assert await echo("a") == "a"
                process.kill()
                process.wait()
                for _ in range(2):
                    with pytest.raises(ServerError, match=r"far: (the connection ended before|cannot be reached)"):
                        await echo("b")
                process = await anyio.to_thread.run_sync(start)
                assert await echo("c") == "c"
                tasks.cancel_scope.cancel()
        finally:
            process.kill()
            process.wait()

    anyio.run(use)


def test_a_file_that_cannot_be_used_is_one_line_that_says_why(config: Config, tmp_path: Path) -> None:
    missing = cli(tmp_path, "connect", "--config", str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert missing.stderr.startswith(f"skillroute: {tmp_path / 'none.json'} cannot be read (No such file or directory)")

    with Path(__file__).open("rb") as file:
        with_file = subprocess.run(
            [sys.executable, *command(config("good"))], stdin=file, capture_output=True, text=True,
            env=environment(tmp_path, **HASHING), check=False, timeout=60,
        )  # fmt: skip
    assert with_file.returncode == 1
    assert "skillroute: standard input and output must be pipes" in with_file.stderr

    within = cli(tmp_path, "connect", "--config", str(config("good")), SKILLROUTE_WITHIN_CONNECT="1")
    assert within.returncode == 1
    assert within.stderr.startswith("skillroute: skillroute connect has started this one as a server")

    path = tmp_path / "mcp.json"
    own = {"command": "skillroute", "args": ["connect"]}
    path.write_text(json.dumps({"mcpServers": {"skillroute": own, "bad": {"command": {"path": ["run"]}}}}))
    unusable = cli(tmp_path, "connect", "--config", str(path))
    assert unusable.returncode == 1
    assert unusable.stderr.splitlines() == [
        f"skillroute: {path}: mcpServers.bad.command must be a string",
        f"skillroute: {path}: mcpServers.skillroute is skillroute connect itself: left out",
        f"skillroute: {path}: no server of it can be used",
    ]
