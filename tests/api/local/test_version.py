"""The version is that of pyproject.toml wherever somebody may read it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import skillroute
import skillroute_client
from fastapi.testclient import TestClient
from skillroute_client.connection import Connection
from skillroute_local.cli import app
from skillroute_local.connect.serve import AgentServer
from typer.testing import CliRunner

from tests.api.mcp_calls import HANDSHAKE, STATELESS, result

ROOT = Path(__file__).parents[3]
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
IN_SOURCES = [
    "layers/common/python/skillroute/__init__.py",
    "clients/python/skillroute_client/version.py",
]


def of_project(path: str) -> str:
    return str(tomllib.loads((ROOT / path).read_text("utf-8"))["project"]["version"])


VERSION = of_project("pyproject.toml")


@pytest.fixture
def stated(shared_client: TestClient) -> dict[str, Any]:
    """The version by who states it."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    cli = CliRunner()
    with skillroute_client.Skillroute("http://localhost:3000") as client:
        agent = sent_headers(client.connection)["user-agent"]
    return {
        "clients/python/pyproject.toml": of_project("clients/python/pyproject.toml"),
        "skillroute.__version__": skillroute.__version__,
        "skillroute_client.__version__": skillroute_client.__version__,
        "skillroute --version": cli.invoke(app, ["--version"]).output.split()[-1],
        "skillroute --version --json": json.loads(cli.invoke(app, ["--version", "--json"], obj=True).output)["version"],
        "/health": shared_client.get("/health").json()["version"],
        "/ready": shared_client.get("/ready").json()["version"],
        "OpenAPI": document["info"]["version"],
        "OpenAPI's example of /health": document["components"]["schemas"]["Health"]["examples"][0]["version"],
        "User-Agent": agent.removeprefix("skillroute-client/"),
        "initialize": result(shared_client, "initialize", GREETING, HANDSHAKE[-1])["serverInfo"]["version"],
        "_meta": stamped(result(shared_client, "tools/list", None, STATELESS))["version"],
        "connect": AgentServer(cast("Any", SimpleNamespace(instructions=""))).mcp.version,
    }


def sent_headers(connection: Connection) -> dict[str, str]:
    return dict(connection.request("GET", "/health", {}, None, {}).headers)


def stamped(answer: dict[str, Any]) -> dict[str, str]:
    return cast("dict[str, str]", answer["_meta"]["io.modelcontextprotocol/serverInfo"])


def test_everybody_states_the_version_of_the_project(stated: dict[str, Any]) -> None:
    assert {who: version for who, version in stated.items() if version != VERSION} == {}


def test_it_stands_once_in_the_sources_of_each_package() -> None:
    packages = ("layers/common/python", "local", "clients/python/skillroute_client", "functions")
    files = [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]
    having = [file.relative_to(ROOT).as_posix() for file in files if f'"{VERSION}"' in file.read_text("utf-8")]
    assert having == IN_SOURCES
    asking = [file for file in files if "importlib.metadata" in file.read_text("utf-8")]
    assert [file.name for file in asking] == ["health_system.py"], "it asks for the index library's, on a laptop"
    assert "version(" in asking[0].read_text("utf-8")
    assert 'version("skillroute' not in asking[0].read_text("utf-8"), (
        "what is installed may be of another day, and in a Lambda layer nothing is"
    )


def test_the_change_log_has_it_as_its_newest_release() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    releases = [line for line in lines if line.startswith("## ") and line != "## Unreleased"]
    assert releases[0].startswith(f"## {VERSION} - ")
