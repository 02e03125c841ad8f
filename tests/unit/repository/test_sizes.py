"""How large each part may become: growth is a decision, which changes a number here."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
SUFFIXES = {".py", ".sql"}
# Lines of Python and SQL, with room for a tenth when they were set (2026-11-27).
LINES = {
    "layers/common/python/skillroute/access": 600,
    "layers/common/python/skillroute/agent_skills": 2_350,
    "layers/common/python/skillroute/calling": 3_400,
    "layers/common/python/skillroute/catalogue": 3_900,
    "layers/common/python/skillroute/core": 27_600,
    "layers/common/python/skillroute/identity": 2_800,
    "layers/common/python/skillroute/learning": 4_000,
    "layers/common/python/skillroute/mail": 7_700,
    "layers/common/python/skillroute/mcp": 4_800,
    "layers/common/python/skillroute/registry": 5_700,
    "layers/common/python/skillroute/search": 5_000,
    "layers/common/python/skillroute/skills": 9_500,
    "layers/common/python/skillroute/wiring": 2_600,
    "local": 33_000,
    "clients/python/skillroute_client": 6_900,
    "benchmarks": 9_600,
    "training": 5_300,
    "tests": 119_000,
}  # fmt: skip
MAX_FILE_LINES, MAX_FUNCTION_LINES = 300, 50
# A script that builds the models of a layer.
LONG_FILES = {"layers/inference/build_model.py"}
# Commands whose parameters are their options, and what sets up a whole program.
LONG_FUNCTIONS = {
    "local/skillroute_local/commands/console.py:console",
    "local/skillroute_local/commands/eval_.py:eval_",
    "local/skillroute_local/commands/import_.py:import_",
    "local/skillroute_local/commands/search.py:search",
    "local/skillroute_local/commands/token.py:token",
    "local/skillroute_local/console/app.py:console_app",
    "local/skillroute_local/mcp_servers/config.py:read_servers",
    "local/skillroute_local/up.py:up",
}  # fmt: skip
SHIPPED = ("layers", "local", "clients/python/skillroute_client", "functions", "benchmarks")


def files(folder: str) -> list[Path]:
    """Return the files of code below a folder; caches and installed packages aside."""
    found = [file for file in (ROOT / folder).rglob("*") if file.suffix in SUFFIXES]
    return [file for file in found if not any(part.startswith((".", "__pycache__")) for part in file.parts[-6:-1])]


def lines(file: Path) -> int:
    return file.read_text("utf-8").count("\n")


def test_every_part_is_within_its_size() -> None:
    sizes = {folder: sum(map(lines, files(folder))) for folder in LINES}
    assert {folder: size for folder, size in sizes.items() if size > LINES[folder]} == {}


def test_every_slice_has_a_size() -> None:
    package = ROOT / "layers/common/python/skillroute"
    slices = {folder.name for folder in package.iterdir() if (folder / "__init__.py").is_file()}
    assert {f"layers/common/python/skillroute/{name}" for name in slices} <= LINES.keys()


def test_no_file_and_no_function_is_longer_than_it_may_be() -> None:
    long_files, long_functions = set(), set()
    for file in [file for folder in SHIPPED for file in files(folder) if file.suffix == ".py"]:
        name = file.relative_to(ROOT).as_posix()
        if lines(file) > MAX_FILE_LINES:
            long_files.add(name)
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES:
                long_functions.add(f"{name}:{node.name}")
    assert (long_files, long_functions) == (LONG_FILES, LONG_FUNCTIONS)
