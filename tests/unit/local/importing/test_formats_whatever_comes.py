"""Whatever stands in a source: it is read or refused with its place, and nothing else happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillroute_local.importing.content import content_of
from skillroute_local.importing.formats import FORMATS
from skillroute_local.importing.model import Unreadable

from tests.unit.local.importing.reading import read_path

# A configuration is not read here: what it names would be started.
NAMES = sorted(set(FORMATS) - {"mcp-config"})
_KEYS = st.sampled_from([
    "$ref", "_meta", "allOf", "body", "category", "components", "content", "description", "error", "get", "in", "info",
    "inputSchema", "items", "name", "openapi", "operationId", "parameters", "paths", "post", "prompts", "properties",
    "required", "requestBody", "resources", "result", "schema", "schemas", "server", "servers", "status", "tags",
    "title", "tools", "type", "uri", "x-a",
]) | st.text(max_size=3)  # fmt: skip
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=4),
    st.sampled_from(["3.0.0", "object", "tool", "resource", "path", "query", "#/components/schemas/a", "#", "deleted"]),
)  # fmt: skip
JSON = st.recursive(
    _VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=30,
)


def _openapi(operation: Any, schemas: Any) -> dict[str, Any]:
    return {"openapi": "3.0.0", "info": {"title": "t"}, "paths": {"/a": operation}, "components": {"schemas": schemas}}


_OPERATIONS = st.dictionaries(st.sampled_from(["get", "post", "parameters", "$ref"]), JSON, max_size=3)
DOCUMENTS = st.one_of(
    JSON,
    st.builds(_openapi, _OPERATIONS, st.dictionaries(st.sampled_from("ab"), JSON)),
    st.builds(lambda value: {"result": {"tools": value}}, JSON),
    st.builds(lambda values: {"tools": values}, st.lists(JSON, max_size=3)),
    st.builds(lambda values: {"servers": values}, st.lists(JSON, max_size=3)),
)


@pytest.mark.parametrize("name", [None, *NAMES])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=DOCUMENTS)
def test_any_json_is_read_or_refused_with_its_place(tmp_path: Path, name: str | None, value: object) -> None:
    path = tmp_path / "source.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    if name is not None or not FORMATS["mcp-config"].matches(content_of(path)):
        _read(path, name)


@pytest.mark.parametrize("name", ["jsonl", "openapi", "tools-list", None])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused_with_their_place(tmp_path: Path, name: str | None, data: bytes) -> None:
    path = tmp_path / "source"
    path.write_bytes(data)
    _read(path, name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(front=st.text(max_size=40), rest=st.text(max_size=20))
def test_any_front_matter_is_read_or_refused_with_its_place(tmp_path: Path, front: str, rest: str) -> None:
    folder = tmp_path / "skills" / "one"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_bytes(f"---\n{front}\n---\n{rest}".encode("utf-8", "surrogatepass"))
    _read(tmp_path / "skills", None)


def _read(path: Path, name: str | None) -> None:
    try:
        found = read_path(path, name=name)
    except Unreadable as error:
        assert error.where.startswith(path.name)
        return
    assert all(refusal.startswith(path.name) for refusal in found.refused)
    assert all(row.where.startswith(path.name) for row in found.rows)
