"""Ways through an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

METHODS = ("get", "put", "post", "delete", "patch")
SCHEMAS = "#/components/schemas/"


def operations(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield every operation with its name for people: ``GET /api/v1/tools``."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


def schema_holders(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield every object with a `schema` outside of components, and a name for that schema."""
    for _, operation in operations(document):
        name = pascal(operation["operationId"])
        for parameter in operation.get("parameters", ()):
            yield f"{name}{pascal(parameter['name'])}", parameter
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield f"{name}Request", content
        for status, response in operation["responses"].items():
            suffix = "Response" if status.startswith("2") else f"Response{status}"
            for content in response.get("content", {}).values():
                yield f"{name}{suffix}", content


def subschemas(schema: Json) -> Iterator[tuple[Any, Any, str]]:
    """Yield the schemas right within a schema: what holds each, its key there, and a suffix for its name."""
    for name in schema.get("properties", {}):
        yield schema["properties"], name, pascal(name)
    if isinstance(schema.get("items"), dict):
        yield schema, "items", "Item"
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema, "additionalProperties", "Value"
    for several in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index in range(len(schema.get(several, ()))):
            yield schema[several], index, ""


def pascal(name: str) -> str:
    """Return a name as those of components are.

    Examples
    --------
    >>> pascal("search_tools"), pascal("inputSchema"), pascal("If-Match")
    ('SearchTools', 'InputSchema', 'IfMatch')
    """
    return "".join(part[0].upper() + part[1:] for part in name.replace("-", "_").split("_") if part)
