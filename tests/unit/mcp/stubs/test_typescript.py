"""Stubs of TypeScript: what its compiler accepts of them, and how they read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from skillroute.mcp.stubs import typescript

from tests.unit.mcp.stubs.catalogues import stubs

TSC = os.environ.get("SKILLROUTE_TSC") or shutil.which("tsc")


def test_a_function_takes_one_object() -> None:
    schema = {
        "properties": {
            "title": {"type": "string", "description": "What it\nis called."},
            "in-reply-to": {"type": ["integer", "null"]},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        },
        "required": ["title"],
    }
    found = typescript.stub("delete", "Add an event.\nAnd more.", schema, {"type": "string"}, typescript.new_names())
    assert found == (
        "/**\n * Add an event.\n * And more.\n */\n"
        "declare function delete_(args: { /** What it is called. */ title: string; "
        '"in-reply-to"?: number | null; tags?: ("a" | "b")[]; }): Promise<string>;'
    )


def test_what_refers_to_itself_has_a_name() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"properties": {"node": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert typescript.stub("walk", "", schema, None, typescript.new_names()) == (
        "type walk_Node = { next?: walk_Node; };\n"
        "declare function walk(args?: { node?: walk_Node; }): Promise<unknown>;"
    )


@pytest.mark.skipif(TSC is None, reason="there is no tsc: make test-stubs")
def test_the_stubs_of_all_tools_compile(tmp_path: Path) -> None:
    text = list(stubs(typescript.stub, typescript.new_names()))
    assert text == list(stubs(typescript.stub, typescript.new_names())), "equal tools have equal stubs"
    module = tmp_path / "stubs.ts"
    module.write_text("\n\n".join([*text, "export {};"]), "utf-8")
    command = [str(TSC), "--noEmit", "--strict", "--target", "es2022", str(module)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
