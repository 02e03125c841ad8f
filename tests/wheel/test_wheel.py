"""What a person gets who installs the wheels, far from any checkout: `make test-wheel`."""

from __future__ import annotations

import json
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from packaging.requirements import Requirement
from skillroute.core.embedding.packaged import DEFAULT_MODEL
from skillroute_local.home import Home

from tests.e2e.processes import eventually
from tests.wheel.conftest import ROOT, Environment, Wheels, clean_environment

STUB = ROOT / "tests" / "stubs" / "mcp_server.py"
_LARGEST_BYTES = 100 * 1024 * 1024
"""What PyPI takes without being asked."""
# Folders of the checkout, and what the wheel calls them.
PLACES = {
    "layers/common/python/skillroute": "skillroute",
    "layers/inference/models": "skillroute/models",
    "local/skillroute_local": "skillroute_local",
    "examples": "skillroute_local/example_catalogue",
}


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata_of(wheel: Path) -> Any:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def files_below(folder: Path) -> set[str]:
    """Return the files that Git keeps, or would."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    listed = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (folder / name).exists()}


def test_the_wheel_holds_what_is_read_at_run_time_and_nothing_else(wheels: Wheels) -> None:
    expected = {f"{inside}/{name}" for place, inside in PLACES.items() for name in files_below(ROOT / place)}
    names = {name for name in names_in(wheels.skillroute) if ".dist-info/" not in name}
    assert {"skillroute/core/postgres/migrations/0001_catalogue.sql", "skillroute/catalogue/queries.sql"} <= names
    assert {f"skillroute/models/{DEFAULT_MODEL}/model.onnx", "skillroute_local/console/static/index.html"} <= names
    assert names == expected
    assert wheels.skillroute.stat().st_size < _LARGEST_BYTES


def test_the_wheel_of_the_client_holds_its_package_and_says_what_it_is(wheels: Wheels) -> None:
    package = ROOT / "clients" / "python" / "skillroute_client"
    names = {name for name in names_in(wheels.client) if ".dist-info/" not in name}
    assert "skillroute_client/py.typed" in names
    assert names == {f"skillroute_client/{name}" for name in files_below(package)}
    assert metadata_of(wheels.client).get_payload().startswith("# skillroute-client")


def test_the_client_needs_httpx_and_pydantic_alone(client: Environment, wheels: Wheels) -> None:
    required = metadata_of(wheels.client).get_all("Requires-Dist")
    assert {Requirement(each).name for each in required if "extra ==" not in each} == {"httpx", "pydantic"}
    assert client.packages() == {
        *("skillroute-client", "httpx", "httpcore", "h11", "anyio", "idna", "certifi"),
        *("pydantic", "pydantic-core", "annotated-types", "typing-extensions", "typing-inspection"),
    }
    code = "import skillroute_client as s; print(s.Skillroute('http://localhost:1'), s.AsyncSkillroute.__name__)"
    done = client.run("python", "-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr


def test_without_the_extra_the_command_says_what_to_install(bare: Environment) -> None:
    for args in ((), ("connect",), ("--version",)):
        done = bare.run("skillroute", *args)
        assert done.returncode == 1
        assert "is not installed: the command line needs the extra `local`; install both wheels" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def url(laptop: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `skillroute up` answers; its home is the default one, in the folder."""
    output = tmp_path_factory.mktemp("up") / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [laptop.program("skillroute"), "up", "--port", "0"],
            cwd=laptop.folder, env=clean_environment(), stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:

        def announced() -> str | None:
            assert process.poll() is None, output.read_text()
            run = Home(laptop.folder / ".skillroute").running()
            return run.url if run else None

        yield eventually(announced, "it answers")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert process.returncode == 0, output.read_text()


def test_a_first_search_finds_a_tool_of_the_examples(laptop: Environment, url: str) -> None:
    query = "schedule a meeting with John tomorrow"
    answer = httpx.post(f"{url}/api/v1/search", json={"query": query}, timeout=30, trust_env=False)
    assert answer.status_code == 200
    assert answer.json()["tools"][0]["name"] == "create_event"
    assert answer.json()["metadata"]["degraded"] == []

    done = laptop.run("skillroute", "search", query, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tools"][0]["name"] == "create_event"


def test_tools_are_imported_and_found(laptop: Environment, url: str) -> None:
    tool = {"name": "water_plants", "description": "Open the valves of the irrigation.", "inputSchema": {}}
    (laptop.folder / "tools.json").write_text(json.dumps({"tools": [tool]}))
    done = laptop.run("skillroute", "import", "tools.json", "--server", "garden")
    assert done.returncode == 0, done.stdout + done.stderr
    found = laptop.run("skillroute", "search", "open the irrigation valves", "--strategy", "direct", "--json")
    assert json.loads(found.stdout)["tools"][0]["name"] == "water_plants"


@pytest.mark.parametrize("page", ["/docs", "/openapi.json", "/console/", "/console/static/app.js"])
def test_pages_are_there(url: str, page: str) -> None:
    answer = httpx.get(f"{url}{page}", timeout=30, trust_env=False)
    assert answer.status_code == 200, page


def test_the_console_answers_by_itself(laptop: Environment, url: str) -> None:
    with subprocess.Popen(
        [laptop.program("skillroute"), "console", "--port", "0", "--no-open"],
        cwd=laptop.folder, env=clean_environment(), stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert f"The console of {url}: http://localhost:" in said
            address = said.split(": ", 1)[1].partition("#")[0]
            page = httpx.get(address, timeout=30, trust_env=False)
            assert page.status_code == 200
            assert "<title>" in page.text
        finally:
            process.terminate()


def test_an_agent_finds_and_calls_a_tool_through_connect(laptop: Environment) -> None:
    config = laptop.folder / "mcp.json"
    stub = {"command": str(laptop.program("python")), "args": [str(STUB), "good", str(laptop.folder / "starts")]}
    config.write_text(json.dumps({"mcpServers": {"stub": stub}}))
    server = StdioServerParameters(
        command=str(laptop.program("skillroute")), args=["connect"], cwd=laptop.folder,
        env=clean_environment(SKILLROUTE_HOME=str(laptop.folder / "connect")),
    )  # fmt: skip

    async def use() -> None:
        async with Client(server) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                "search_tools", "get_tool_details", "call_tool",
            ]  # fmt: skip
            found = await client.call_tool("search_tools", {"query": "say a text again as it was given"})
            assert found.structured_content["tools"][0]["id"] == "stub/echo"
            answer = await client.call_tool("call_tool", {"id": "stub/echo", "arguments": {"text": "hello"}})
            assert answer.content[0].text == "hello"

    anyio.run(use)
