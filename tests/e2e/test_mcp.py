"""The official clients of the Model Context Protocol at a running Skillroute."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp_types import Request
from pydantic import TypeAdapter
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import HttpServer, StdioServer

from tests.e2e.processes import Up

ROOT = Path(__file__).parents[2]

ARGUMENTS: dict[str, Any] = {
    "search_tools": {"query": "schedule a meeting with John tomorrow", "budget_tokens": 800},
    "get_tool_details": {"ids": [16]},
    "search_servers_and_agents": {"query": "calendar"},
    "list_tool_groups": {},
    "search_messages": {"project_key": "atlas-billing", "query": "deploy"},
    "search_messages_product": {"product_key": "atlas", "query": "deploy"},
}
PAGES = ("README.md", "docs/mcp.md")
"""Where agents are connected."""

FORMS = {"mcpServers", "servers"}
"""The fields of clients' files; README.md leaves VS Code's to docs/mcp.md."""

OF_1_X = os.environ.get("SKILLROUTE_MCP_1_PYTHON")
"""An interpreter that has the last 1.x of the SDK, as `make test-mcp-1` gives it."""


def blocks(page: str, language: str) -> list[str]:
    """Return what a page shows of a language, block by block."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


def url(running: Up) -> str:
    return f"{running.url}/mcp"


async def session(address: str, mode: str) -> dict[str, Any]:
    """Return what the official client gets; it checks structured content by the schemas that are listed."""
    async with Client(address, mode=mode) as client:
        tools = (await client.list_tools()).tools
        called = {name: await client.call_tool(name, arguments) for name, arguments in ARGUMENTS.items()}
        [skill, *_] = (await client.list_resources()).resources
        [template, _] = (await client.list_resource_templates()).resource_templates
        [prompt, *_] = (await client.list_prompts()).prompts
        got = await client.get_prompt(prompt.name, {each.name: "x" for each in prompt.arguments or ()})
        return {
            "revision": client.protocol_version,
            "template": template.uri_template,
            "tools": [tool.name for tool in tools],
            "answers": {name: answer.structured_content for name, answer in called.items() if not answer.is_error},
            "skill": (await client.read_resource(skill.uri)).contents[0].text,  # type: ignore[union-attr]
            "prompt": got.messages[0].content.text,  # type: ignore[union-attr]
        }


def assert_everything_is_there(got: dict[str, Any]) -> None:
    assert got["tools"] == [*ARGUMENTS, "read_message"]  # whose id is that of a message of the examples
    assert got["answers"].keys() == ARGUMENTS.keys()
    assert all(got["answers"].values())
    [first, *_] = got["answers"]["search_tools"]["tools"]
    assert (first["id"], first["name"]) == (16, "create_event")
    assert got["answers"]["get_tool_details"]["tools"][0]["input_schema"]["properties"]["title"]
    assert got["answers"]["search_messages"]["result"]
    assert got["skill"].startswith("# ")
    assert got["prompt"].startswith("Use the prompt ")


@pytest.mark.parametrize(
    ("mode", "revision"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")]
)
def test_the_official_client_gets_everything(running: Up, mode: str, revision: str) -> None:
    got = asyncio.run(session(url(running), mode))
    assert got["revision"] == revision
    assert got["template"] == "tool-group://{id}"
    assert_everything_is_there(got)


SKILL = "---\nname: refunds\ndescription: Pays back.\n---\n# Refunds\nRound down to whole cents.\n"
LOGO = b"\x89PNG\x00\xff"


@pytest.fixture
def skill_uri(running: Up) -> Iterator[str]:
    """The URI of an Agent Skill, which is deleted after the test."""
    files = [{"path": "SKILL.md", "text": SKILL}, {"path": "logo.png", "base64": base64.b64encode(LOGO).decode()}]
    skill = {"path": "e2e/refunds", "frontmatter": {"name": "refunds", "description": "Pays back."}, "files": files}
    written = httpx.put(f"{running.url}/api/v1/agent-skills", json={"agent_skills": [skill]})
    [outcome] = written.raise_for_status().json()["results"]
    yield "skill://e2e/refunds/SKILL.md"
    httpx.delete(f"{running.url}/api/v1/agent-skills/{outcome['id']}").raise_for_status()


async def skills_of(address: str, mode: str) -> dict[str, Any]:
    """Return what the official client gets of the Skills extension, for which it has no methods of its own."""
    async with Client(address, mode=mode) as client:

        async def ask(method: str, **params: Any) -> dict[str, Any]:
            request = Request[dict[str, Any], str](method=method, params=params)
            return await client.session.send_request(request, TypeAdapter(dict[str, Any]))

        found = await client.call_tool("search_skills", {"query": "round down to cents"})
        uri = found.structured_content["skills"][0]["uri"]  # type: ignore[index]
        read = (await client.read_resource(uri)).contents[0]
        got = {"capabilities": client.server_capabilities.extensions, "uri": uri, "text": read.text}  # type: ignore[union-attr]
        if mode == "legacy":
            return got
        listed, skill = await ask("skills/list"), await ask("skills/get", uri=uri)
        files = [(await client.read_resource(each["uri"])).contents[0] for each in skill["skill"]["resources"]]
        directory = await ask("resources/directory/read", uri=uri.rpartition("/")[0])
        return {**got, "listed": listed, "skill": skill["skill"], "files": files, "directory": directory}


def test_the_official_client_gets_agent_skills(running: Up, skill_uri: str) -> None:
    got = asyncio.run(skills_of(url(running), "auto"))
    assert got["capabilities"] == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    assert (got["uri"], got["text"]) == (skill_uri, SKILL)
    assert got["listed"]["skills"] == [got["skill"]]
    assert (got["listed"]["cacheScope"], got["listed"]["ttlMs"] > 0) == ("private", True)
    read = [SKILL.encode(), LOGO]
    got_bytes = [each.text.encode() if hasattr(each, "text") else base64.b64decode(each.blob) for each in got["files"]]
    assert got_bytes == read
    digests = [f"sha256:{hashlib.sha256(content).hexdigest()}" for content in read]
    assert [file["digest"] for file in got["skill"]["resources"]] == digests
    assert [child["name"] for child in got["directory"]["resources"]] == ["refunds", "logo.png"]


def test_a_client_of_an_older_revision_finds_and_reads_agent_skills(running: Up, skill_uri: str) -> None:
    got = asyncio.run(skills_of(url(running), "legacy"))
    assert got == {"capabilities": None, "uri": skill_uri, "text": SKILL}


@pytest.mark.skipif(OF_1_X is None, reason="needs an environment with the SDK's last 1.x: make test-mcp-1")
def test_the_last_client_of_1_x_gets_everything(running: Up) -> None:
    command = [str(OF_1_X), str(Path(__file__).with_name("mcp_1_client.py")), url(running), json.dumps(ARGUMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["revision"] == "2025-11-25"
    assert_everything_is_there(got)


def run_sdk(running: Up, page: str) -> dict[str, Any]:
    """Run what a page shows of the SDK, at the running server, and return what it defines."""
    [block] = blocks(page, "python")
    defined: dict[str, Any] = {}
    exec(compile(block.replace("http://localhost:3000/mcp", url(running)), page, "exec"), defined)
    return defined


def test_the_sdk_does_what_the_page_shows(running: Up, capsys: pytest.CaptureFixture[str]) -> None:
    run_sdk(running, "docs/mcp.md")
    assert capsys.readouterr().out.startswith("create_event(")


@pytest.mark.parametrize(("page", "shown_forms"), [("README.md", {"mcpServers"}), ("docs/mcp.md", FORMS)])
def test_the_configurations_that_the_page_shows_lead_to_the_server(
    page: str, shown_forms: set[str], tmp_path: Path
) -> None:
    """As clients read them: by the reader of their files that `skillroute connect` has."""
    forms: set[str] = set()
    for block in blocks(page, "json"):
        shown = json.loads(block)
        if shown.keys() & FORMS:
            file = tmp_path / "mcp.json"
            file.write_text(block)
            [server] = read_servers(file, environment={}).servers
            forms |= shown.keys()
            if isinstance(server, StdioServer) and "connect" in server.args:
                continue  # tests/unit/repository/test_connect_page.py
            assert isinstance(server, HttpServer)
            assert (server.name, server.url, server.transport) == (
                "skillroute",
                "http://localhost:3000/mcp",
                server.transport,
            )
            assert server.transport in {"auto", "http"}
    assert forms == shown_forms
    text = (ROOT / page).read_text("utf-8")
    assert "claude mcp add --transport http skillroute http://localhost:3000/mcp" in text


@pytest.mark.skipif(shutil.which("claude") is None, reason="needs Claude Code")
@pytest.mark.parametrize("page", PAGES)
def test_claude_code_takes_the_command(page: str, tmp_path: Path) -> None:
    [line] = [
        line for block in blocks(page, "bash") for line in block.splitlines() if line.startswith("claude mcp add")
    ]
    environment = {**os.environ, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path)}
    done = subprocess.run(
        shlex.split(line, comments=True), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
