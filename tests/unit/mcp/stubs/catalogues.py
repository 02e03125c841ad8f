"""The stubs of all tools of two catalogues, as one answer would have them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skillroute.mcp.stubs.types import Names

DATA = Path(os.environ.get("SKILLROUTE_CATALOGUES") or Path(__file__).parents[5] / "shared" / "data")
CATALOGUES = [DATA / name / "tools.jsonl" for name in ("docker-mcp-catalog", "livemcp-catalog")]
ARE_THERE = all(file.exists() for file in CATALOGUES)

_OBJECT: dict[str, Any] = {"type": "object"}
_TREE = {"properties": {"value": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
HARD: dict[str, dict[str, Any]] = {
    "a tree": {**_OBJECT, "properties": {"root": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": _TREE}},
    "itself": {**_OBJECT, "properties": {"next": {"$ref": "#"}, "name": {"type": "string"}}, "required": ["name"]},
    "circle": {
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "union circle": {
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
    },
    "list of itself": {
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
    },
    "map of itself": {
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "object", "additionalProperties": {"$ref": "#/$defs/a"}}},
    },
    "class": {
        "properties": {"class": {"type": "string"}, "in-reply-to": {"type": ["string", "null"]}},
        "required": ["class"],
    },
    "list": {"properties": {"list": {"type": "array"}, "str": {"type": "string"}, "__private": {"type": "integer"}}},
    "types": {
        "properties": {
            "x": {
                **_OBJECT,
                "properties": {"list": {"type": "array", "items": {"type": "string"}}, "int": {"type": "integer"}},
            }
        }
    },
    "values": {
        "properties": {
            "a": {"enum": ["x", 'y"\\\n', None, True, 1]},
            "b": {"const": 1.5},
            "c": {"enum": [{"x": 1}, []]},
        }
    },
    "nothing": {},
    "union": {
        "anyOf": [
            {**_OBJECT, "properties": {"a": {"type": "string"}}},
            {**_OBJECT, "properties": {"b": {"type": "integer"}}},
        ]
    },
    "parts": {
        "allOf": [{"$ref": "#/$defs/p"}, {"properties": {"b": {"type": "string"}}, "required": ["a"]}],
        "$defs": {"p": {"properties": {"a": {"type": "number"}}}},
    },
    "comments": {"description": "x", "properties": {"a": {"type": "string", "description": 'It */ ends.\n"""# \\'}}},
    "nullable": {
        "properties": {"a": {"type": "array", "items": {"type": "string", "nullable": True}}},
        "required": ["a"],
    },
    "nonsense": {"properties": [1], "required": "a", "type": {"x": 1}, "allOf": 7, "$ref": 9, "enum": 3},
    "deep nonsense": {"properties": {"a": 1, "b": {"$ref": "https://elsewhere.test"}, "": {"type": "string"}, "ü": {}}},
}
"""Schemas that are seldom, by what is hard about them."""


def stubs(stub: Callable[..., str], names: Names) -> Iterator[str]:
    """Return the stub of each tool."""
    for name, schema in HARD.items():
        for tool in (name, "the same name"):
            yield stub(tool, "Does */ this.\r\n  And that.\x00\u2028", schema, schema, names)
    for file in CATALOGUES:
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            tool = json.loads(line)
            yield stub(tool["name"], tool["description"], tool["input_schema"], None, names)
