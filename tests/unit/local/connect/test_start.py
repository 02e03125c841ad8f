"""What `connect` leaves out of a file: itself, and nothing that has a name like it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from mcp.client.stdio import get_default_environment
from skillroute_local.connect.start import servers_of
from skillroute_local.mcp_servers.model import StdioServer
from skillroute_local.mcp_servers.transport import program_environment

DEMO = "/home/me/skillroute-demo/.venv/bin/python"


def test_it_leaves_itself_out_and_says_so_and_keeps_a_server_of_a_similar_path(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "mcp.json"
    servers = {
        "own": {"command": "/opt/skillroute/.venv/bin/skillroute", "args": ["connect", "--config", "a.json"]},
        "demo": {"command": DEMO, "args": ["srv.py", "connect"]},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    assert [server.name for server in servers_of([path])] == ["demo"]
    assert caplog.messages == [f"{path}: mcpServers.own is skillroute connect itself: left out"]


def test_it_leaves_itself_out_where_a_program_installs_it_first(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    servers = {
        "own": {"command": "/usr/bin/uvx", "args": ["--from", "./a.whl[local]", "skillroute", "connect"]},
        "git": {"command": "uvx", "args": ["mcp-server-git"]},
        "named": {"command": "uvx", "args": ["mcp-server-skillroute", "connect"]},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    assert [server.name for server in servers_of([path])] == ["git", "named"]


def test_programs_behind_connect_know_that_they_are_and_nothing_else_of_skillroute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = StdioServer("a", "mcp.json: a", "run", env={"TOKEN": "t-1"})
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", "postgresql://secret")
    assert not [name for name in program_environment(server) if name.startswith("SKILLROUTE_")]
    monkeypatch.setenv("SKILLROUTE_WITHIN_CONNECT", "1")
    monkeypatch.setenv("OTHERS_TOKEN", "secret")
    assert program_environment(server) == {
        **get_default_environment(),
        "TOKEN": "t-1",
        "SKILLROUTE_WITHIN_CONNECT": "1",
    }
    own = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_")}
    assert "OTHERS_TOKEN" in own
    inheriting = replace(server, inherits=True)
    assert program_environment(inheriting) == {**own, "TOKEN": "t-1", "SKILLROUTE_WITHIN_CONNECT": "1"}
