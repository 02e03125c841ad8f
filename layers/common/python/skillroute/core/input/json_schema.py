"""JSON Schemas of answers, written short: what clients check tools' answers by, and language models answer by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def object_of(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of an object with these properties and no others; all are required where none is named."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name in required or not required],
        "additionalProperties": False,
    }


def list_of(items: Schema, description: str | None = None) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def one_of(values: Iterable[str]) -> Schema:
    """Return the schema of a string that is one of these."""
    return {"type": "string", "enum": list(values)}


def described(schema: Schema, description: str) -> Schema:
    """Return a schema with what it means."""
    return {**schema, "description": description}
