"""What the client needs and loads, and that nothing of it reaches Lambda."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "clients" / "python"
PROJECT = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FRAMEWORKS = {"langchain-core", "llama-index-core", "langgraph", "langgraph-bigtool", "anthropic", "skillroute-client"}


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def test_the_client_needs_httpx_and_pydantic_and_nothing_else() -> None:
    assert names(PROJECT["dependencies"]) == {"httpx", "pydantic"}


def test_every_dependency_has_a_range() -> None:
    for requirement in [*PROJECT["dependencies"], *(entry for extra in EXTRAS.values() for entry in extra)]:
        parsed = Requirement(requirement)
        if parsed.name != PROJECT["name"]:
            assert {">=", "<"} <= {part.operator for part in parsed.specifier}, requirement


def pinned(file: Path) -> set[str]:
    return {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", file.read_text("utf-8"), re.MULTILINE)}


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}; import sys, json; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_client_loads_nothing_that_it_may_do_without() -> None:
    loaded = loaded_by("import skillroute_client, skillroute_client.adapters.claude, skillroute_client.adapters.openai")
    assert {"httpx", "pydantic"} <= loaded
    assert loaded & {"botocore", "boto3", "langchain_core", "llama_index", "anthropic", "openai", "skillroute"} == set()


@pytest.mark.parametrize("layer", sorted(path.parent.name for path in (ROOT / "layers").glob("*/requirements.txt")))
def test_no_layer_has_the_client_or_a_framework(layer: str) -> None:
    pinned = re.findall(
        r"^([A-Za-z0-9._-]+)==", (ROOT / "layers" / layer / "requirements.txt").read_text("utf-8"), re.M
    )
    assert {canonicalize_name(name) for name in pinned} & FRAMEWORKS == set()


def test_the_lock_of_the_layers_has_neither_the_client_nor_a_framework() -> None:
    locked = pinned(ROOT / "layers" / "requirements.lock")
    assert "pydantic" in locked
    assert locked & FRAMEWORKS == set()


def test_what_runs_on_lambda_imports_nothing_of_the_client() -> None:
    files = [*(ROOT / "layers").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    assert len(files) > 100
    assert [str(file) for file in files if "skillroute_client" in imported(file)] == []


def imported(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_the_client_is_typed_for_those_who_install_it() -> None:
    assert (CLIENT / "skillroute_client" / "py.typed").exists()
