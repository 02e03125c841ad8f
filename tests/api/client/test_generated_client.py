"""A client that openapi-python-client makes of docs/openapi.json writes a skill and a tool, and finds the tool."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System
from tests.openapi import PAGE

CONFIG = PAGE.with_name("openapi-python-client.yaml")
NAME = "generated_skillroute_client"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """Generate the client, without a warning, and return what imports its modules."""
    folder = tmp_path_factory.mktemp("client")
    # With the settings that docs/api.md names; its hooks would only format it.
    assert f"--config docs/{CONFIG.name}" in CONFIG.with_name("api.md").read_text("utf-8")
    config = f"{CONFIG.read_text('utf-8')}post_hooks: []\n"
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    command = ["generate", "--path", str(PAGE), "--output-path", str(folder / NAME), "--meta", "none"]
    program = Path(sys.executable).with_name("openapi-python-client")
    done = subprocess.run(
        [program, *command, "--config", str(folder / "config.yaml"), "--fail-on-warning"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"{NAME}.{name}")
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


@pytest.fixture
def asked(generated: Callable[[str], Any], client: TestClient) -> Any:
    """The generated client, which reaches the system under test."""
    made = generated("client").AuthenticatedClient(base_url="http://testserver", token="none")
    return made.set_httpx_client(client)


def test_it_creates_a_skill_writes_a_tool_and_finds_it(
    generated: Callable[[str], Any], asked: Any, system: System
) -> None:
    models = generated("models")
    skill = models.SkillCreate(id="garden", name="Garden", description="Watering the plants of a garden.")
    created = generated("api.skills.create_skill").sync(client=asked, body=skill)
    assert (created.id, created.tool_count) == ("garden", 0)

    schema = models.JsonObject.from_dict({"type": "object", "properties": {"litres": {"type": "number"}}})
    item = models.Item(name="water_plants", description="Water the plants of a garden.", input_schema=schema)
    written = generated("api.catalogue.put_tools").sync(client=asked, body=models.UpsertRequest(items=[item]))
    assert (written.created, written.results[0].status) == (1, "created")

    assignments = models.ManualAssignments(skills=[models.ManualAssignment(skill_id="garden")])
    item_id = written.results[0].id
    [assigned] = generated("api.skills.put_tool_skills").sync(item_id, client=asked, body=assignments)
    assert assigned.skill_name == "Garden"

    request = models.SearchRequest(query="water the plants of the garden")
    answer = generated("api.search.search_tools").sync(client=asked, body=request)
    assert [tool.name for tool in answer.tools] == ["water_plants"]
    assert answer.tools[0].input_schema.to_dict() == schema.to_dict()


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_its_search_has_the_answer_of_a_plain_request(
    generated: Callable[[str], Any], asked: Any, system: System, client: TestClient, mode: str
) -> None:
    tools = ("water_plants", "sell_bicycle", "paint_fence", "read_letters", "cut_hedge")
    system.put(*tools, description="Something that one does in a garden, or beside it.")
    question = {"query": "the flowers are thirsty", "mode": mode}
    request = generated("models").SearchRequest.from_dict(question)
    answer = generated("api.search.search_tools").sync(client=asked, body=request)
    plain = client.post("/api/v1/search", json=question).json()["tools"]
    assert [(tool.name, tool.score) for tool in answer.tools] == [(tool["name"], tool["score"]) for tool in plain]
    assert plain or mode != "hybrid"


def test_it_understands_errors(generated: Callable[[str], Any], asked: Any, system: System) -> None:
    found = generated("api.skills.get_skill").sync("nothing", client=asked)
    assert (type(found).__name__, found.code) == ("Problem", "skill_not_found")


def test_it_asks_for_what_follows_a_page(generated: Callable[[str], Any], asked: Any, system: System) -> None:
    system.put("a", "b", "c")
    response = generated("api.catalogue.list_tools").sync_detailed(client=asked, limit=2)
    assert ([item.name for item in response.parsed], response.headers["x-total-count"]) == (["a", "b"], "3")
