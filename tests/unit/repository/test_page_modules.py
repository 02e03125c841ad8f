"""The console's modules import from each other what is there: a browser says so only when a page is opened."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[3] / "local" / "skillroute_local" / "console" / "static"
MODULES = {path.relative_to(STATIC).as_posix(): path.read_text("utf-8") for path in STATIC.glob("*.js")}
IMPORT = re.compile(r'import\s*\{([^}]*)\}\s*from\s*"\./([\w./]+)"')
LOADED = re.compile(r'import\("\./([\w./]+)"\)')
EXPORT = re.compile(r"^export\s+(?:async\s+)?(?:const|let|class|function\*?)\s+(\w+)", re.MULTILINE)

DESTRUCTURED = re.compile(r"^export\s+const\s+\[([\w, ]+)\]", re.MULTILINE)


def exports(name: str) -> set[str]:
    several = ",".join(DESTRUCTURED.findall(MODULES[name])).split(",")
    return {*EXPORT.findall(MODULES[name]), *(each.strip() for each in several)}


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_imports_is_there_and_used(name: str) -> None:
    text = MODULES[name]
    for names, source in IMPORT.findall(text):
        if "/" in source:  # a library
            continue
        wanted = {each.split(" as ")[0].strip() for each in names.split(",")} - {""}
        assert wanted <= exports(source), f"{source} has no {', '.join(sorted(wanted - exports(source)))}"
        inner = {each.split(" as ")[-1].strip() for each in names.split(",")} - {""}
        unused = {each for each in inner if len(re.findall(rf"\b{each}\b", text)) < 2}
        assert unused == set(), name


def test_every_module_is_loaded_by_another_one() -> None:
    loaded = {source for text in MODULES.values() for source in LOADED.findall(text)}
    loaded |= {source for text in MODULES.values() for _, source in IMPORT.findall(text)}
    assert set(MODULES) - loaded == {"app.js"}
