"""docs/connect.md: the snippets for agents start what is there, and the example of a file can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import typer
from skillroute.core.embedding.packaged import models_dir
from skillroute.core.embedding.tokens import TokenCounter
from skillroute.mcp.rpc import to_text
from skillroute_local.cli import app
from skillroute_local.connect.own_tools import own_tools
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import HttpServer, McpServer, StdioServer

PAGE = (Path(__file__).parents[3] / "docs" / "connect.md").read_text("utf-8")
SNIPPETS = re.findall(r"^```json\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
OPTIONS = {
    option
    for parameter in typer.main.get_command(app).commands["connect"].params  # type: ignore[attr-defined]
    for option in (*parameter.opts, *parameter.secondary_opts)
}


def read(directory: Path, snippet: str) -> tuple[McpServer, ...]:
    path = directory / "mcp.json"
    path.write_text(snippet)
    found = read_servers(path, environment={})
    assert found.problems == ()
    return found.servers


def test_each_agents_snippet_starts_connect_with_options_that_exist(tmp_path: Path) -> None:
    for snippet in SNIPPETS[:3]:
        [server] = read(tmp_path, snippet)
        assert isinstance(server, StdioServer)
        assert Path(server.command).is_absolute()
        assert server.args[0] == "connect"
        assert {argument for argument in server.args if argument.startswith("-")} <= OPTIONS


def test_options_that_the_page_names_exist() -> None:
    assert set(re.findall(r"`(--[a-z]+)", PAGE)) <= OPTIONS


def test_the_tokens_of_the_three_tools_are_those_that_the_page_names() -> None:
    count = TokenCounter(models_dir() / "all-minilm-l6-v2" / "tokenizer.json")
    listed = own_tools(["time", "git", "fetch", "filesystem", "everything", "memory"])
    [named] = re.findall(r"the three of `connect` ([\d,]+) ", PAGE)
    assert count(to_text(listed)) == int(named.replace(",", ""))


def test_the_example_of_a_file_is_read(tmp_path: Path) -> None:
    git, files, docs = read(tmp_path, SNIPPETS[3])
    assert isinstance(git, StdioServer)
    assert dict(git.env) == {"TOKEN": "none"}
    assert isinstance(files, StdioServer)
    assert files.args[-1] == f"{Path.home()}/notes"
    assert isinstance(docs, HttpServer)
    assert docs.url == "https://eu.example.com/mcp"
    assert len(json.loads(SNIPPETS[3])["servers"]) == 4
