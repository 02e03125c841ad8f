"""Stubs of Python: what mypy accepts of them, and how they read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from skillroute.mcp.stubs import python

from tests.unit.mcp.stubs.catalogues import ARE_THERE, CATALOGUES, stubs


def test_a_function_has_its_arguments_by_name() -> None:
    schema = {
        "properties": {
            "attendees": {"type": "array", "items": {"type": "object", "properties": {"email": {"type": "string"}}}},
            "title": {"type": "string", "description": "What it\nis called."},
            "color": {"enum": ["red", None]},
        },
        "required": ["title"],
    }
    found = python.stub("create-event", "Add an event.", schema, {"type": "string"}, python.new_names())
    assert found == (
        "class create_event_attendees(TypedDict):\n"
        "    email: NotRequired[str]\n"
        "# Add an event.\n"
        "# title: What it is called.\n"
        'def create_event(*, title: str, attendees: list["create_event_attendees"] = ..., '
        "color: Literal['red', None] = ...) -> str: ..."
    )


def test_arguments_that_are_no_identifiers_come_as_one_dictionary() -> None:
    schema = {"properties": {"in-reply-to": {"type": "string"}}, "required": ["in-reply-to"]}
    found = python.stub("class", "", schema, None, python.new_names())
    assert found == (
        'class__args = TypedDict("class__args", {\'in-reply-to\': str})\n'
        'def class_(args: "class__args") -> Any: ...'
    )  # fmt: skip


def test_names_that_are_taken_get_a_number() -> None:
    names = python.new_names()
    found = [python.stub(name, "", {}, None, names).partition("(")[0] for name in ("get", "get", "get.it", "get it")]
    assert found == ["def get", "def get_2", "def get_it", "def get_it_2"]


@pytest.mark.skipif(not ARE_THERE, reason=f"{CATALOGUES} are not there")
def test_the_stubs_of_all_tools_pass_mypy(tmp_path: Path) -> None:
    text = list(stubs(python.stub, python.new_names()))
    assert len(text) > 1000
    assert text == list(stubs(python.stub, python.new_names())), "equal tools have equal stubs"
    module = tmp_path / "stubs.pyi"
    module.write_text("\n\n".join([python.IMPORTS, *text]), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(tmp_path), str(module)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
