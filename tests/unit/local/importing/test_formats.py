"""The format of a source is found from its content, whatever the file is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skillroute_local.errors import LocalError
from skillroute_local.importing.content import content_of
from skillroute_local.importing.formats import FORMATS, require_format
from skillroute_local.importing.model import Unreadable

from tests.unit.local.importing.reading import read_path, written

TOOL = {"name": "prune", "description": "Cut the roses back.", "inputSchema": {"type": "object"}}
SERVER = {"name": "io.example/roses", "version": "1.0.0", "packages": []}
OPENAPI = {"openapi": "3.1.0", "info": {"title": "Roses"}, "paths": {}}


def format_of(path: Path) -> str | None:
    content = content_of(path)
    return next((name for name, each in FORMATS.items() if each.matches(content)), None)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"tools": [TOOL]}, "tools-list"),
        ({"tools": [TOOL], "nextCursor": "2"}, "tools-list"),
        ({"prompts": []}, "tools-list"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, "tools-list"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}, "tools-list"),
        ([TOOL], "tools-list"),
        ([{"name": "prune", "input_schema": {}}], "json"),
        ([], "json"),
        ({"items": [TOOL]}, "json"),
        (TOOL, "json"),
        (json.dumps(TOOL), "json"),
        (f"{json.dumps(TOOL)}\n{json.dumps(TOOL)}\n", "jsonl"),
        (f"{{broken\n{json.dumps(TOOL)}\n", "jsonl"),
        (f"{{broken\n{json.dumps(TOOL)}\n{{broken too\n{json.dumps(TOOL)}\n", "jsonl"),
        (f"{json.dumps({'kind': 'tool', **TOOL})}\n{json.dumps(TOOL)}\n", "backup"),
        (f"{json.dumps({'kind': 'shed', **TOOL})}\n{json.dumps(TOOL)}\n", "jsonl"),
        ({"kind": "end", "after": "", "kinds": [], "changed": []}, "backup"),
        (f'{{"tools": [\n{json.dumps(TOOL)},\n{json.dumps(TOOL)}\n]}}', "tools-list"),
        (f'{{"tools": [\n{json.dumps(TOOL)}\n]}}', "tools-list"),
        (f'{{"tools": [\n{json.dumps(TOOL)},\n{json.dumps(TOOL)}\n', None),
        (OPENAPI, "openapi"),
        ("openapi: 3.0.3\ninfo: {title: Roses}\npaths: {}\n", "openapi"),
        ({"swagger": "2.0"}, "openapi"),
        ({"servers": [{"server": SERVER}], "metadata": {"count": 1}}, "mcp-registry"),
        ([{"server": SERVER}], "mcp-registry"),
        ({"server": SERVER, "_meta": {}}, "mcp-registry"),
        (SERVER, "mcp-registry"),
        ({"name": "roses", "tools": [TOOL]}, "mcp-registry"),
        ({"mcpServers": {"a": {"command": "x"}}}, "mcp-config"),
        ({"servers": {"a": {"command": "x"}}}, "mcp-config"),
        ({"mcp": {"servers": {"a": {"command": "x"}}}}, "mcp-config"),
        ('{\n// VS Code\n"servers": {"a": {"command": "x"},},\n}', "mcp-config"),
        ("# A page\n\nof words.", None),
        ({"hello": "world"}, None),
        ("7", None),
    ],
)
def test_the_content_shows_the_format(tmp_path: Path, content: object, name: str | None) -> None:
    assert format_of(written(tmp_path, "source", content)) == name


def test_a_folder_and_the_file_of_a_skill_are_agent_skills(tmp_path: Path) -> None:
    skill = written(tmp_path, "skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Read PDF files.\n---\n")

    assert [format_of(path) for path in (tmp_path / "skills", skill.parent, skill)] == ["agent-skills"] * 3


def test_what_has_no_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as raised:
        read_path(written(tmp_path, "hello.json", {"hello": "world"}))

    assert str(raised.value).startswith("hello.json: has none of the formats (backup: ")


def test_a_format_that_is_named_goes_before_what_the_content_shows(tmp_path: Path) -> None:
    one_line = written(tmp_path, "one.jsonl", json.dumps({"tools": [], "name": "prune"}))

    assert read_path(one_line).reading.kind == "servers"
    assert read_path(one_line, name="jsonl").rows[0].where == "one.jsonl:1"
    with pytest.raises(Unreadable, match=r"one\.jsonl: is not of format openapi \(an OpenAPI 3 document"):
        read_path(one_line, name="openapi")


def test_a_format_that_is_none_names_those_there_are() -> None:
    require_format(None)
    with pytest.raises(LocalError, match="--format: 'yaml' is not one of backup, jsonl, agent-skills, "):
        require_format("yaml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "source:1:1: the file is empty"),
        ('{\n "tools": [\n', "source:3:1: is not JSON: Expecting value"),
        ('{"a": ' * 100_000, "source: is nested too deeply to be read"),
        ("a: [1,\nb: }", "source:2:"),
        ("a: b: c", "source:1:5: is not YAML: mapping values are not allowed"),
        ("{" + '"n": ' + "9" * 5_000 + "}", "source: cannot be read: "),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read_path(written(tmp_path, "source", text))

    assert str(raised.value).startswith(problem)


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes(b'{"name": "caf\xe9"}')

    with pytest.raises(Unreadable, match=r"latin\.json: cannot be read: "):
        read_path(path)


def test_a_document_that_is_too_large_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute_local.importing.content.MAX_DOCUMENT_BYTES", 10)

    with pytest.raises(Unreadable, match=r"large\.json: is larger than 0 MB: split it"):
        read_path(written(tmp_path, "large.json", [TOOL]))
