"""The arrows of DESIGN section 2, read from the source, and what a function may not load before it must."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "common" / "python" / "skillroute"
FUNCTIONS = ROOT / "functions"

# What each part of the package may import of the others. The arrows point one way.
ARROWS = {
    "domain": {"domain", "errors"},
    "errors": set(),
    "observability": set(),
    "settings": {"errors"},
    "ports": {"ports", "domain", "errors"},
    "search": {"search", "ports", "domain", "errors", "observability"},
    "services": {"services", "ports", "domain", "errors", "observability"},
    "storage": {"storage", "ports", "domain", "errors", "observability"},
    "providers": {"providers", "ports", "domain", "errors", "observability"},
    "web": {"web", "search", "services", "ports", "domain", "errors", "observability"},
    "consumers": {"consumers", "services", "ports", "domain", "errors", "observability"},
    "bootstrap": {
        "bootstrap", "web", "consumers", "search", "services", "storage", "providers", "settings", "ports", "domain",
        "errors", "observability",
    },
}  # fmt: skip

# Where each library may be imported; a library that is not here is the standard library's or pydantic.
LIBRARIES = {
    "boto3": {"storage", "providers"},
    "botocore": {"storage", "providers"},
    "pg8000": {"storage"},
    "qdrant_client": {"storage"},
    "qdrant_edge": {"storage"},
    "httpx": {"storage", "providers"},
    "numpy": {"providers"},
    "onnxruntime": {"providers"},
    "tokenizers": {"providers"},
    "fastapi": {"web"},
    "starlette": {"web"},
    "aws_lambda_powertools": {"observability"},
    "pydantic_settings": {"settings"},
    "pydantic": {"domain", "services", "settings", "web"},
}
ENVIRONMENT_READERS = {"settings", "observability"}


class Import(NamedTuple):
    file: Path
    line: int
    module: str
    for_types_only: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def imports(file: Path) -> Iterator[Import]:
    tree = ast.parse(file.read_text("utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, id(node) in typing_only)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative imports hide where the arrow points"
            yield Import(file, node.lineno, node.module or "", id(node) in typing_only)


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def package_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def package_imports() -> list[Import]:
    return [found for file in package_files() for found in imports(file)]


def test_every_part_of_the_package_has_its_place() -> None:
    assert {part_of(file) for file in package_files()} - {"__init__"} <= set(ARROWS)


def test_the_arrows_point_one_way() -> None:
    wrong = []
    for found in package_imports():
        root, _, rest = found.module.partition(".")
        if root != "skillroute":
            continue
        part = part_of(found.file)
        # The package itself holds nothing but the version.
        if rest and (part == "__init__" or rest.split(".")[0] not in ARROWS[part]):
            wrong.append(str(found))
    assert wrong == []


def test_each_library_stays_where_it_belongs() -> None:
    wrong = []
    for found in package_imports():
        library = found.module.split(".")[0]
        if library == "skillroute" or library in sys.stdlib_module_names:
            continue
        allowed = LIBRARIES.get(library, set())
        part = part_of(found.file)
        if part not in allowed and not (part == "bootstrap" and library == "fastapi" and found.for_types_only):
            wrong.append(str(found))
    assert wrong == []


def test_the_environment_is_read_by_the_settings_and_the_observability_only() -> None:
    wrong = []
    for file in package_files():
        if part_of(file) in ENVIRONMENT_READERS:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name in {"environ", "environb", "getenv"}:
                wrong.append(f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} reads the environment")
    assert wrong == []


def test_a_function_folder_holds_one_thin_module_and_imports_from_the_package_only() -> None:
    folders = [path for path in FUNCTIONS.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert folders
    for folder in folders:
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert [path.name for path in files] == ["app.py"], folder
        wrong = [
            str(found)
            for found in imports(folder / "app.py")
            if found.module.split(".")[0] not in {"skillroute", "mangum", "aws_lambda_powertools"}
            and found.module.split(".")[0] not in sys.stdlib_module_names
        ]
        assert wrong == []


def test_the_package_knows_nothing_of_the_laptop_and_of_tests() -> None:
    assert not [str(f) for f in package_imports() if f.module.split(".")[0] in {"skillroute_local", "tests", "moto"}]


# Of botocore, Powertools loads the package itself, which is 0.4 ms; a session and a client are what costs.
HEAVY = {"qdrant_client", "qdrant_edge", "onnxruntime", "tokenizers", "numpy", "boto3", "botocore.session", "httpx"}


@pytest.mark.parametrize(
    ("code", "unloaded"),
    [
        ("import skillroute.bootstrap", HEAVY | {"fastapi", "pg8000"}),
        ("from skillroute.bootstrap import catalog_app; catalog_app()", HEAVY),
        ("from skillroute.bootstrap import search_app; search_app()", HEAVY - {"qdrant_edge"}),
        ("from skillroute.bootstrap import classify_handler; classify_handler()", HEAVY | {"fastapi"}),
        ("from skillroute.bootstrap import aggregate_handler; aggregate_handler()", HEAVY | {"fastapi"}),
        ("from skillroute.bootstrap import relay_handler; relay_handler()", HEAVY | {"fastapi"}),
        ("import skillroute.ports, skillroute.errors, skillroute.domain.search", HEAVY | {"fastapi", "pg8000"}),
    ],
    ids=["bootstrap", "catalog_app", "search_app", "classify", "aggregate", "relay", "core"],
)
def test_what_is_heavy_is_not_loaded_before_it_must(code: str, unloaded: set[str]) -> None:
    # A database that nobody listens on: building an application opens no connection.
    environment = {
        "PATH": "/usr/bin:/bin",
        "SKILLROUTE_DATABASE_URL": "postgresql://u:p@127.0.0.1:1/db",
        "POWERTOOLS_METRICS_NAMESPACE": "Skillroute",
    }
    report = f"import json, sys; {code}; print(json.dumps(sorted(sys.modules)))"
    child = subprocess.run([sys.executable, "-c", report], env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    loaded = set(json.loads(child.stdout.splitlines()[-1]))
    assert loaded & unloaded == set()
