"""Schemas as every client of MCP takes them: one odd schema must not hide all tools."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.input.strict_schemas import strict_input, strict_output

OBJECT = {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (None, OBJECT),
        ({}, OBJECT),
        ({"type": "object", "properties": None, "required": None}, OBJECT),
        ({"type": ["object", "null"]}, OBJECT),
        (
            {"type": "object", "properties": {"a": True, "b": False, "c": None, "d": {"type": "string"}}},
            {"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {}, "d": {"type": "string"}}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "object", "properties": {"any": True}, "default": True}}},
            {"type": "object", "properties": {"a": {"type": "object", "properties": {"any": {}}, "default": True}}},
        ),
        (
            {"type": "object", "properties": {"required": {"enum": [True]}}, "additionalProperties": False},
            {"type": "object", "properties": {"required": {"enum": [True]}}, "additionalProperties": False},
        ),
        ({"properties": {"a": "string", "b": ["x"], "c": 5}}, {**OBJECT, "properties": {"a": {}, "b": {}, "c": {}}}),
        ("object", OBJECT),
        ([OBJECT], OBJECT),
    ],
)
def test_the_arguments_are_an_object_whose_properties_are_objects(schema: Any, shown: dict[str, Any]) -> None:
    assert strict_input(schema) == shown
    assert strict_input(shown) == shown


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "$defs": {"A": OBJECT}}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#a"}}},
        {"type": "object", "$defs": {"A": {"$id": "https://example.com/a", "$ref": "#/$defs/A"}}},
        {"type": "object", "allOf": [{"$ref": "#/allOf/7"}]},
        {"type": "object", "allOf": [{"$ref": f"#/allOf/{'9' * 5000}"}]},
        {"type": "array"},
        {"$ref": 7},
        {"$ref": "#"},
        "object",
    ],
)
def test_a_result_whose_schema_cannot_be_compiled_is_shown_without_one(schema: dict[str, Any]) -> None:
    assert strict_output(schema) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "any"},
        {"type": "str"},
        {"type": []},
        {"type": 5},
        {"minimum": 1, "exclusiveMinimum": True},
        {"minLength": "1"},
        {"maxItems": None},
        {"uniqueItems": "yes"},
        {"enum": "a"},
        {"additionalProperties": "no"},
        {"items": "string"},
        {"items": [1]},
        {"anyOf": {}},
        {"anyOf": ["string"]},
        {"not": None},
        {"dependencies": {"a": 5}},
        {"$ref": "#/default"},
    ],
)
def test_a_result_whose_schema_has_a_keyword_of_the_wrong_kind_is_shown_without_one(wrong: dict[str, Any]) -> None:
    schema = {"type": "object", "default": {"type": "any"}}
    assert strict_output({**schema, "properties": {"a": wrong}}) is None
    assert strict_output({**schema, "properties": {"a": {"type": "array", "items": {"anyOf": [wrong]}}}}) is None
    assert strict_output({**schema, "$defs": {"a": wrong}}) is None
    assert strict_output({**schema, "properties": {"a": {"const": wrong}}}) is not None


def test_a_result_may_be_null_where_openapi_said_so() -> None:
    text, null = {"type": "string"}, {"type": "null"}
    properties = {
        "a": {"type": "string", "nullable": True},
        "b": {"nullable": True, "anyOf": [text]},
        "c": {"type": "string", "nullable": False, "enum": []},
        "nullable": text,
    }
    assert strict_output({"properties": properties, "id": "a", "$id": "b"}) == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"anyOf": [text, null]}, "c": text, "nullable": text},
    }


def test_a_result_keeps_its_schema_but_for_what_the_compiler_lacks() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "pattern": r"^[a-z\_]+$", "default": {"pattern": "x"}},
            "next": {"$ref": "#"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}},
        },
        "$defs": {"a/b": OBJECT},
    }
    assert strict_output(schema) == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "default": {"pattern": "x"}},
            "next": {"$ref": "#"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}},
        },
        "$defs": {"a/b": OBJECT},
    }


def test_a_schema_that_is_nested_without_end_is_answered_for() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    assert strict_input(deep)["type"] == "object"
    assert strict_output(deep) is None
