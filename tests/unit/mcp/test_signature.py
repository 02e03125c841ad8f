"""A tool's arguments in a line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mcp.signature import MAX_CHARS, MAX_STEPS, signature


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
        ({"properties": [], "required": []}, ""),
        ({"properties": [], "required": "a"}, "…"),
        ({"properties": 7}, "…"),
        ({"type": "object", "additionalProperties": False, "title": "T", "required": []}, ""),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "…"),
        ({"$ref": "#/$defs/A", "$defs": {"A": of("x", x=INTEGER)}}, "x: int"),
        ({"$ref": "#"}, "…"),
        ({"allOf": [{"$ref": "#/$defs/A"}, of(y=STRING)], "$defs": {"A": of("x", x=INTEGER)}}, "x: int, y?: str"),
        (of(y=STRING) | {"allOf": [{"required": ["y"]}]}, "y?: str"),
        ({"anyOf": [of(x=INTEGER), of(y=STRING)]}, "…"),
        (of(x=INTEGER) | {"anyOf": [{"required": ["x"]}, {}]}, "x?: int"),
        (of(a={"type": "array", "items": {"$ref": "#/$defs/A"}}) | {"$defs": {"A": of(x=INTEGER)}}, "a?: [{x?: int}]"),
        (
            of(a={"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/A"}}, {"type": "null"}]})
            | {"$defs": {"A": of(x=INTEGER)}},
            "a?: [{x?: int}]",
        ),
        (of(a={"allOf": [of("x", x=INTEGER), of(y=STRING)]}), "a?: {x: int, y?: str}"),
        (of(a={"type": ["string", "integer"], "anyOf": [STRING, {"type": "boolean"}]}), "a?: str|bool"),
        (of(a={"const": {"b": 1}}), "a?: object"),
        (of(a=of(b=of(c=of(d=STRING)))), "a?: {b?: {c?: object}}"),
        (TREE, "next?: {next?: {next?: object}}"),
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


class Counted(dict[str, Any]):
    """A schema that counts how often schemas are looked at, and fails after too many times."""

    looked_at = 0

    def get(self, key: str, default: Any = None) -> Any:
        Counted.looked_at += 1
        assert Counted.looked_at < 10 * MAX_STEPS, "looked at too often"
        return super().get(key, default)


def test_a_schema_whose_branches_multiply_takes_a_bounded_number_of_steps() -> None:
    """Unions of lists of types within properties, each within its bounds, are 10^8 types all together."""
    Counted.looked_at = 0
    wide: Any = Counted(STRING)
    for _ in range(3):
        inner = Counted(type=["object"] * 24, properties={f"a{number}": wide for number in range(40)})
        wide = Counted(anyOf=[inner] * 24)
    assert len(signature("call", Counted(of(a=wide)))) <= MAX_CHARS
    assert Counted.looked_at > MAX_STEPS


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
