"""Items as the API takes them, from documents and lines, and answers of MCP servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.schemas import read_item
from skillroute_local.importing import input_schemas, items, mended
from skillroute_local.importing.compare import differences
from skillroute_local.importing.model import Scope, Unreadable

from tests.unit.local.importing.reading import read_path, written

EVERY_FIELD = {
    "type": "prompt",
    "server": "garden",
    "name": "plan_beds",
    "description": "Plan the beds.",
    "input_schema": {"type": "object", "properties": {"beds": {"type": "integer"}}},
    "output_schema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
    "tags": ["outdoors"],
    "metadata": {"since": 3},
    "title": "Plan",
}


def tool(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


@pytest.mark.parametrize(
    "content", [EVERY_FIELD, [EVERY_FIELD], {"items": [EVERY_FIELD]}, json.dumps(EVERY_FIELD) + "\n" + "{}\n"]
)
def test_every_field_of_an_item_comes_through(tmp_path: Path, content: object) -> None:
    found = read_path(written(tmp_path, "items.json", content))

    assert [row.value for row in found.rows] == [EVERY_FIELD]


def test_what_an_item_says_of_itself_goes_before_the_server_that_is_chosen(tmp_path: Path) -> None:
    own = {"name": "a", "server": "own", "type": "prompt"}
    for content in ([own, {"name": "b"}], {"tools": [own, {"name": "b"}]}):
        found = read_path(written(tmp_path, "i.json", content), server="chosen")

        assert [row.value["server"] for row in found.rows] == ["own", "chosen"]
        assert found.values["a"]["type"] == "prompt"


def test_a_category_becomes_a_tag(tmp_path: Path) -> None:
    found = read_path(written(tmp_path, "i.json", [{"name": "a", "category": "x", "tags": ["y"]}, {"name": "b"}]))

    assert [row.value.get("tags") for row in found.rows] == [["y", "x"], None]


@pytest.mark.parametrize(
    ("wrap", "base"),
    [
        (lambda tools: {"tools": tools}, "listed.json#/tools"),
        (lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}, "listed.json#/result/tools"),
        (lambda tools: {"result": {"tools": tools}}, "listed.json#/result/tools"),
        (lambda tools: tools, "listed.json#"),
    ],
    ids=["object", "envelope", "result", "array"],
)
def test_a_tools_list_comes_in_every_form_in_which_people_have_it(tmp_path: Path, wrap: object, base: str) -> None:
    listed = [tool("dig", title="Dig"), 7, {"description": "no name"}, tool("rake")]

    found = read_path(written(tmp_path, "listed.json", wrap(listed)), server="garden")  # type: ignore[operator]

    assert [(row.where, row.value["name"], row.value["server"]) for row in found.rows] == [
        (f"{base}/0", "dig", "garden"),
        (f"{base}/3", "rake", "garden"),
    ]
    assert found.values["dig"]["title"] == "Dig"
    assert sorted(found.refused) == [f"{base}/1: not a JSON object", f"{base}/2: name: is missing"]


def test_prompts_and_resources_of_an_answer_are_what_they_are(tmp_path: Path) -> None:
    answer = {
        "tools": [tool("dig")],
        "prompts": [{"name": "plan", "arguments": []}],
        "resources": [{"name": "map", "uri": "file:///map"}],
        "resourceTemplates": [{"name": "bed", "uriTemplate": "bed://{n}"}],
    }

    found = read_path(written(tmp_path, "all.json", answer), server="garden")

    assert [row.value["type"] for row in found.rows] == ["tool", "prompt", "resource", "resource"]
    assert found.values["bed"]["uriTemplate"] == "bed://{n}"
    assert found.reading.scopes == [Scope("garden", "tool"), Scope("garden", "prompt"), Scope("garden", "resource")]


def test_resources_of_one_name_are_told_apart_by_their_addresses(tmp_path: Path) -> None:
    listed = [{"name": "readme", "uri": f"file:///{folder}/readme"} for folder in ("a", "b", "a")]

    found = read_path(written(tmp_path, "l.json", {"resources": listed}), server="files")

    assert [(row.value["name"], row.value.get("title")) for row in found.rows] == [
        ("readme", None),
        ("file:///b/readme", "readme"),
    ]
    assert found.refused == ["l.json#/resources/2: name: the same server, type and name as l.json#/resources/0"]


@pytest.mark.parametrize(
    ("schema", "place", "reason"),
    [
        ({"type": "array"}, "/inputSchema/type", "must be object, as MCP asks: it is 'array'"),
    ],
)
def test_arguments_that_are_no_object_are_refused_with_its_place(
    tmp_path: Path, schema: object, place: str, reason: str
) -> None:
    answer = {"tools": [tool("good"), {"name": "liar", "inputSchema": schema}]}

    found = read_path(written(tmp_path, "listed.json", answer), server="garden")

    assert list(found.values) == ["good"]
    assert found.refused == [f"listed.json#/tools/1{place}: {reason}"]
    assert found.about == [ItemKey("garden", "tool", "liar")]


@pytest.mark.parametrize(
    ("schema", "kept", "lost"),
    [
        (
            {"type": "object", "properties": {"n": {"type": "whole", "title": "N"}}},
            {"type": "object", "properties": {"n": {"title": "N"}}},
            "/properties/n/type: left out: is not a JSON Schema: 'whole' is not valid under any of the given schemas",
        ),
        (
            {"type": "object", "required": "n"},
            {"type": "object"},
            "/required: left out: is not a JSON Schema: 'n' is not of type 'array'",
        ),
        (
            {"type": "object", "properties": {"n": "text"}},
            {"type": "object", "properties": {"n": {}}},
            "/properties/n: left out: is not a JSON Schema: 'text' is not of type 'object', 'boolean'",
        ),
        (
            {"type": "object", "properties": {"n": {"minimum": 1, "exclusiveMinimum": True}}},
            {"type": "object", "properties": {"n": {"exclusiveMinimum": 1}}},
            None,
        ),
    ],
)
def test_what_is_no_schema_is_left_out_of_one_and_named_and_the_tool_is_kept(
    tmp_path: Path, schema: object, kept: object, lost: str | None
) -> None:
    answer = {"tools": [{"name": "odd", "inputSchema": schema}]}

    found = read_path(written(tmp_path, "listed.json", answer), server="garden")

    assert (found.values["odd"]["inputSchema"], found.refused) == (kept, [])
    assert list(found.reading.left_out) == ([f"listed.json#/tools/0/inputSchema{lost}"] if lost else [])


def test_a_schema_in_which_much_is_wrong_is_mended_in_a_few_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[object] = []

    def counted(item: dict[str, Any]) -> list[input_schemas.SchemaProblem]:
        rounds.append(item)
        return input_schemas.schema_problems(item)

    monkeypatch.setattr(mended, "schema_problems", counted)
    wrong: dict[str, Any] = {f"p{n}": {"type": "any", "items": "text", "minimum": n} for n in range(60)}
    wrong["bound"] = {"minimum": 1, "exclusiveMinimum": True, "allOf": [{"type": "any"}, "text", {"required": 1}]}
    answer = {"tools": [{"name": "odd", "inputSchema": {"type": "object", "properties": wrong}}]}

    found = read_path(written(tmp_path, "listed.json", answer), server="garden")

    kept = {name: {"minimum": n} for n, name in enumerate(wrong)}
    assert found.values["odd"]["inputSchema"]["properties"] == {
        **kept, "bound": {"exclusiveMinimum": 1, "allOf": [{}, {}]}
    }  # fmt: skip
    assert (len(found.reading.left_out), found.refused) == (123, [])
    assert len(rounds) == 3


def test_arguments_that_may_be_an_object_are_one(tmp_path: Path) -> None:
    answer = {"tools": [{"name": "odd", "inputSchema": {"type": ["object", "null"], "properties": {"a": {}}}}]}

    found = read_path(written(tmp_path, "listed.json", answer), server="garden")

    assert found.values["odd"]["inputSchema"] == {"type": "object", "properties": {"a": {}}}
    assert (list(found.reading.left_out), found.refused) == ([], [])


@pytest.mark.parametrize(
    ("name", "content"),
    [("tools.json", {"tools": [tool("a"), tool("b")]}), ("items.json", {"items": [tool("a"), tool("b")]})],
)
def test_tools_of_no_server_are_told_of_unless_one_is_chosen(tmp_path: Path, name: str, content: object) -> None:
    path = written(tmp_path, name, content)

    assert list(read_path(path).reading.notes) == [
        "2 items have no server, and are of none in lists, switches and the registry: --server NAME says whose"
    ]
    assert list(read_path(path, server="garden").reading.notes) == []


def test_an_array_of_tools_is_held_to_the_same_rules(tmp_path: Path) -> None:
    found = read_path(written(tmp_path, "l.json", [tool("good"), {"name": "liar", "inputSchema": {"type": "array"}}]))

    assert list(found.values) == ["good"]
    assert found.refused == ["l.json#/1/inputSchema/type: must be object, as MCP asks: it is 'array'"]


@pytest.mark.parametrize("name", ["outputSchema", "output_schema"])
def test_a_result_may_be_a_list_and_its_schema_is_checked(tmp_path: Path, name: str) -> None:
    tools = [tool("good", **{name: {"type": "array"}}), tool("liar", **{name: {"type": "list"}})]

    found = read_path(written(tmp_path, "l.json", {"tools": tools}))

    assert (list(found.values), found.refused) == (["good", "liar"], [])
    assert found.reading.left_out[0].startswith(f"l.json#/tools/1/{name}/type: left out: is not a JSON Schema: 'list'")


def test_a_schema_of_an_older_draft_is_one(tmp_path: Path) -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"a": True}}

    assert read_path(written(tmp_path, "l.json", {"tools": [{"name": "a", "inputSchema": old}]})).refused == []


def test_a_schema_that_is_nested_without_end_spoils_nothing(tmp_path: Path) -> None:
    deep: dict[str, object] = {}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}}

    found = read_path(written(tmp_path, "l.json", {"tools": [{"name": "deep", "inputSchema": deep}, tool("good")]}))

    assert list(found.values) == ["good"]
    assert "is nested deeper than 64 levels" in found.refused[0]


def test_an_answer_that_is_an_error_is_refused(tmp_path: Path) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}

    with pytest.raises(Unreadable) as raised:
        read_path(written(tmp_path, "l.json", answer))

    assert str(raised.value) == "l.json#/error: the server answered with an error: no such method"


def test_the_second_of_a_name_is_refused(tmp_path: Path) -> None:
    found = read_path(written(tmp_path, "l.json", {"tools": [tool("dig"), tool("dig", description="again")]}))

    assert len(found.rows) == 1
    assert found.refused == ["l.json#/tools/1: name: the same server, type and name as l.json#/tools/0"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_of_windows_are_read(tmp_path: Path, encoding: str) -> None:
    document, lines = tmp_path / "listed.json", tmp_path / "items.jsonl"
    document.write_text(json.dumps({"tools": [tool("dig", description="Über")]}, indent=1), encoding=encoding)
    lines.write_text('{"name": "a"}\r\n{"name": "b"}\r\n', encoding="utf-8-sig")

    assert read_path(document).values["dig"]["description"] == "Über"
    assert list(read_path(lines).values) == ["a", "b"]


def test_a_line_without_an_end_is_refused_and_the_lines_behind_it_count_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "MAX_LINE_BYTES", 100)
    long = json.dumps({"name": "long", "description": "x" * 1_000})
    lines = "\n".join([json.dumps({"name": "a"}), long, "{broken", json.dumps({"name": "b"})])

    found = read_path(written(tmp_path, "i.jsonl", lines))

    assert [row.where for row in found.rows] == ["i.jsonl:1", "i.jsonl:4"]
    assert [refusal.split(": ")[0] for refusal in found.refused] == ["i.jsonl:2", "i.jsonl:3"]


@pytest.mark.parametrize(
    ("said", "differing"),
    [({}, []), ({"requests": ["x"]}, []), ({"requests": ["y"]}, ["requests"]), ({"requests": []}, ["requests"])],
)
def test_a_dry_run_names_requests_where_a_line_says_others(said: dict[str, object], differing: list[str]) -> None:
    row = {"name": "a", "server": None, "type": "tool", "description": "", "tags": [], "metadata": {}}
    schemas = {"input_schema": None, "output_schema": None, "annotations": None}
    stored = {**row, **schemas, "is_switched_off": False, "requests": [{"text": "x", "source": "import"}]}

    class Stored:
        def items(self, server: str) -> dict[ItemKey, dict[str, object]]:
            return {ItemKey(server, "tool", "a"): stored}

    assert differences(read_item({"name": "a", **said}), Stored()) == differing  # type: ignore[arg-type]
