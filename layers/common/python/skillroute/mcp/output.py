"""JSON Schemas of answers, written short: clients check answers by them, and some show them to the model."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def object_of(properties: dict[str, Schema], *required: str) -> Schema:
    """Return the schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def list_of(items: Schema, description: str | None = None) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def described(schema: Schema, description: str) -> Schema:
    """Return a schema with what it means."""
    return {**schema, "description": description}
