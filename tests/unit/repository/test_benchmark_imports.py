"""Benchmarks run by hand: what they import of the package is there, so that a move does not break them unseen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "training").glob("*.py")]
PACKAGES = {
    "skillroute": ROOT / "layers" / "common" / "python",
    "skillroute_local": ROOT / "local",
    "tests": ROOT,
    "benchmarks": ROOT,
}


def source_of(module: str) -> Path | None:
    """Return the file of a module of the repository; None where there is none."""
    path = PACKAGES[module.split(".", maxsplit=1)[0]].joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def names_in(file: Path) -> set[str]:
    """Return the names that a module binds at its top level."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def missing_imports(file: Path) -> list[str]:
    """Return what a file imports of the repository that is not there."""
    missing = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".", maxsplit=1)[0] not in PACKAGES:
            continue
        module = str(node.module)
        source = source_of(module)
        names = names_in(source) if source else set()
        missing += [
            f"{module}.{alias.name}"
            for alias in node.names
            if alias.name not in names and source_of(f"{module}.{alias.name}") is None
        ]
    return missing


@pytest.mark.parametrize(
    "file",
    sorted(FILES),
    ids=lambda file: file.stem,
)
def test_a_benchmark_imports_what_is_there(file: Path) -> None:
    assert missing_imports(file) == []


def test_a_module_and_a_name_that_are_gone_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "benchmark.py"
    file.write_text(
        "from skillroute.core.gone import Embedder\n"
        "from skillroute.core.embedding.port import Embedder, Gone\n"
        "from skillroute.core import embedding\n"
    )
    assert missing_imports(file) == ["skillroute.core.gone.Embedder", "skillroute.core.embedding.port.Gone"]
