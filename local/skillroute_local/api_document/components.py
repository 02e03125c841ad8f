"""Every object a component with a name, and what is the same in many places written once."""

from __future__ import annotations

from typing import Any

from skillroute_local.api_document.walk import SCHEMAS, Json, operations, schema_holders, subschemas

RESPONSES = "#/components/responses/"
HEADERS = "#/components/headers/"

_OF_STATUS = {
    "400": "BadRequest",
    "401": "Unauthenticated",
    "403": "Forbidden",
    "404": "NotFound",
    "409": "Conflict",
    "412": "VersionConflict",
    "413": "BodyTooLarge",
    "415": "UnsupportedMediaType",
    "422": "InvalidRequest",
    "429": "TooManyRequests",
    "503": "Unavailable",
}
"""The names of the usual answers by status."""

_JSON_OBJECT: Json = {"type": "object", "description": "A JSON object of any fields.", "additionalProperties": True}
_BESIDE = ("description", "default")
"""The keywords that may accompany a reference."""

_OF_PROJECT, _OF_PRODUCT = "CallSearchMessagesResponse", "CallSearchMessagesProductResponse"
_CALLED = {
    **{f"{tool}Assistance": "QueryAssistance" for tool in (_OF_PROJECT, _OF_PRODUCT)},
    **{f"{tool}Diagnostics": "SearchDiagnostics" for tool in (_OF_PROJECT, _OF_PRODUCT)},
    "QueryAssistanceAppliedFilterHintsItem": "FilterHint",
    "QueryAssistanceDidYouMeanItem": "FilterCorrection",
    f"{_OF_PROJECT}Guidance": "SearchGuidance",
    "SearchGuidanceSuggestionsItem": "GuidanceSuggestion",
    f"{_OF_PROJECT}ResultItem": "ProjectMessageResult",
    f"{_OF_PRODUCT}ResultItem": "ProductMessageResult",
}
"""Names of what no model stands behind, by those that their places make: the two tools of message search share some."""


def name_schemas(document: Json) -> None:
    """Turn every object that is described where it is used into a component, named by its title or its place."""
    schemas: Json = document["components"]["schemas"]
    for name in list(schemas):
        _name_within(schemas[name], name, schemas)
    for name, holder in schema_holders(document):
        holder["schema"] = _named(holder["schema"], name, schemas)
    for schema in schemas.values():
        drop_titles(schema)
    for _, holder in schema_holders(document):
        drop_titles(holder["schema"])
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def _named(schema: Json, name: str, schemas: Json) -> Json:
    if schema.get("additionalProperties") is True and "properties" not in schema:
        schemas.setdefault("JsonObject", _JSON_OBJECT)
        return {"$ref": f"{SCHEMAS}JsonObject", **{key: schema[key] for key in _BESIDE if key in schema}}
    name = _CALLED.get(name, name)
    is_object = schema.get("type") == "object" and "properties" in schema
    _name_within(schema, name, schemas)
    if not is_object:
        return schema
    before = schemas.setdefault(name, schema)
    if _bare(before) != _bare(schema):
        raise ValueError(f"two schemas of the API are called {name}: give one of both another title")
    return {"$ref": SCHEMAS + name}


def _name_within(schema: Json, name: str, schemas: Json) -> None:
    for holder, key, suffix in subschemas(schema):
        title = holder[key].get("title", "")
        # Of a property the title is its own name; of what a list is of, only our own models have one.
        is_own = suffix == "Item" and title.isidentifier()
        holder[key] = _named(holder[key], title if is_own else name + suffix, schemas)


def _bare(schema: Json) -> Json:
    return {key: value for key, value in schema.items() if key != "title"}


def drop_titles(schema: Any) -> None:
    """Take away the titles that pydantic makes of names: generators would make class names of them."""
    if isinstance(schema, dict):
        schema.pop("title", None)
        for holder, key, _ in subschemas(schema):
            drop_titles(holder[key])


def share_answers(document: Json) -> None:
    """Write the headers, and the errors that most operations have alike, once."""
    headers: Json = {}
    responses: Json = {}
    for _, operation in operations(document):
        for status, response in operation["responses"].items():
            for name, header in response.get("headers", {}).items():
                if headers.setdefault(name, header) == header:
                    response["headers"][name] = {"$ref": HEADERS + name}
            shared = _OF_STATUS.get(status)
            if shared is not None and responses.setdefault(shared, response) == response:
                operation["responses"][status] = {"$ref": RESPONSES + shared}
    document["components"]["headers"] = dict(sorted(headers.items()))
    document["components"]["responses"] = {name: responses[name] for name in _OF_STATUS.values() if name in responses}


def drop_unused(document: Json) -> None:
    """Leave out schemas that nothing refers to any more, as their operations refer to others."""
    schemas = document["components"]["schemas"]
    while unused := set(schemas) - _referred(document):
        for name in unused:
            del schemas[name]


def _referred(node: Any) -> set[str]:
    if isinstance(node, dict):
        found = {node["$ref"].removeprefix(SCHEMAS)} if isinstance(node.get("$ref"), str) else set()
        return found.union(*map(_referred, node.values()))
    return set().union(*map(_referred, node)) if isinstance(node, list) else set()
