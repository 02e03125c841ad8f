"""A tool's arguments in a line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mcp.signature import MAX_CHARS, signature


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
TREE = {"properties": {"next": {"$ref": "#"}}}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (None, ""),
        ({}, ""),
        (of("title", attendees={"type": "array", "items": STRING}, title=STRING), "title: str, attendees?: [str]"),
        (of("start", start={"type": "string", "format": "date-time"}), "start: datetime"),
        (of(a={"type": "number"}, b={"type": "boolean"}, c=INTEGER), "a?: float, b?: bool, c?: int"),
        (of(a={"enum": ["low", "high"]}), 'a?: "low"|"high"'),
        (of(a={"enum": list(range(9))}), "a?: 0|1|2|3|4|5|…"),
        (of(a={"const": None}), "a?: null"),
        (of(a={"anyOf": [STRING, {"type": "null"}]}), "a?: str"),
        (of(a={"anyOf": [STRING, INTEGER, STRING]}), "a?: str|int"),
        (of(a={"type": ["string", "null"]}), "a?: str"),
        (of(a={"allOf": [{"$ref": "#/$defs/A"}]}) | {"$defs": {"A": INTEGER}}, "a?: int"),
        (of(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": of("x", x=INTEGER)}}, "a?: {x: int}"),
        (of(a={"$ref": "https://elsewhere.test/a.json"}), "a?: any"),
        (of(a={"$ref": "#/nowhere"}), "a?: any"),
        (of(a={"type": "object"}), "a?: object"),
        (of(a={"type": "array"}), "a?: list"),
        (of(a=True, b={}, c={"type": 7}), "a?: any, b?: any, c?: any"),
        ({"properties": [], "required": "a"}, ""),
        (of(a=of(b=of(c=of(d=STRING)))), "a?: {b?: {c?: object}}"),
        (TREE, "next?: {next?: any}"),
    ],
)
def test_what_a_schema_says_in_short(schema: Any, arguments: str) -> None:
    assert signature("call", schema) == f"call({arguments})"


def test_what_is_too_long_is_cut() -> None:
    line = signature("call", of(**{f"argument_{number}": STRING for number in range(10_000)}))
    assert len(line) == MAX_CHARS
    assert line.endswith("…")


def test_references_that_multiply_are_soon_cut() -> None:
    """Followed to the end these would be 10^12 types."""
    many = {"anyOf": [{"$ref": "#/$defs/A"}] * 10_000}
    assert signature("call", of(a=many) | {"$defs": {"A": many}}) == "call(a?: any)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "items", "anyOf", "enum", "$ref", "format", "a"]),
            inner | st.sampled_from(["string", "array", "object", "#", "#/a"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "a", "type"]), JSON, max_size=4))
def test_any_object_that_is_stored_as_a_schema_has_a_signature(schema: dict[str, Any]) -> None:
    line = signature("call", schema)
    assert line.startswith("call(")
    assert len(line) <= MAX_CHARS
