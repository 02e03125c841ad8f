"""docs/connect.md: the snippets for agents start what is there, and the example of a file can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from skillroute.core.embedding.packaged import models_dir
from skillroute.core.embedding.tokens import TokenCounter
from skillroute.mcp.rpc import to_text
from skillroute_local.cli import app
from skillroute_local.connect.own_tools import own_tools
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import HttpServer, McpServer, StdioServer

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "connect.md").read_text("utf-8")
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


@pytest.mark.parametrize("page", ["README.md", "docs/connect.md"])
def test_a_page_shows_how_uvx_starts_it_from_the_wheels(page: str, tmp_path: Path) -> None:
    """By its file: the bare name is another project's on PyPI."""
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```json\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    [snippet] = [block for block in blocks if '"uvx"' in block and '"skillroute"' in block]
    [server] = read(tmp_path, snippet)
    assert isinstance(server, StdioServer)
    options, command = server.args[: server.args.index("skillroute")], server.args[server.args.index("skillroute") :]
    assert options[::2] == ("--from", "--with")
    assert re.fullmatch(r"/.+/skillroute-X\.Y\.Z-py3-none-any\.whl\[local\]", options[1])
    assert re.fullmatch(r"/.+/skillroute_client-X\.Y\.Z-py3-none-any\.whl", options[3])
    assert command[:3] == ("skillroute", "connect", "--config")


def test_options_that_the_page_names_exist() -> None:
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= OPTIONS


def test_the_tokens_of_the_three_tools_are_those_that_the_page_names() -> None:
    count = TokenCounter(models_dir() / "all-minilm-l6-v2" / "tokenizer.json")
    listed = own_tools(["time", "git", "fetch", "filesystem", "everything", "memory"])
    [named] = re.findall(r"the three of `connect` ([\d,]+) ", PAGE)
    assert all(tool["_meta"]["anthropic/alwaysLoad"] for tool in listed), "else a client may hold the search back"
    shown = [{field: value for field, value in tool.items() if field != "_meta"} for tool in listed]
    assert count(to_text(shown)) == int(named.replace(",", ""))


def test_the_example_of_a_file_is_read(tmp_path: Path) -> None:
    git, files, docs = read(tmp_path, SNIPPETS[4])
    assert isinstance(git, StdioServer)
    assert dict(git.env) == {"TOKEN": "none"}
    assert isinstance(files, StdioServer)
    assert files.args[-1] == f"{Path.home()}/notes"
    assert isinstance(docs, HttpServer)
    assert docs.url == "https://eu.example.com/mcp"
    assert len(json.loads(SNIPPETS[4])["servers"]) == 4
