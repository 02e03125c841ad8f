"""Descriptions of what has none in the code: of names that mean the same wherever they are."""

from __future__ import annotations

from skillroute_local.api_document.glossary import FIELDS, PARAMETERS, SCHEMAS
from skillroute_local.api_document.walk import Json, operations


def describe(document: Json) -> None:
    """Describe fields and parameters by the glossary, where their own models and routes do not.

    A field is looked up as ``Schema.field``, then as ``field``; a parameter as ``operation.parameter``, then by itself.
    """
    for name, schema in document["components"]["schemas"].items():
        if name in SCHEMAS:
            schema.setdefault("description", SCHEMAS[name])
        if "description" in schema:
            schema["description"] = schema["description"].replace("``", "`")
        for field, shape in schema.get("properties", {}).items():
            text = FIELDS.get(f"{name}.{field}") or FIELDS.get(field)
            if text is not None:
                shape.setdefault("description", text)
    for _, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            known = (f"{operation['operationId']}.{parameter['name']}", parameter["name"])
            text = next((PARAMETERS[key] for key in known if key in PARAMETERS), None)
            if text is not None:
                parameter.setdefault("description", text)
            parameter["schema"].pop("description", None)  # FastAPI writes it twice
        body = operation.get("requestBody")
        if body is not None:
            body.setdefault("description", _of_body(body, document))


def _of_body(body: Json, document: Json) -> str:
    [content] = body["content"].values()
    reference = content["schema"].get("$ref") or next(iter(content["schema"].get("anyOf", [{}]))).get("$ref", "")
    schema = document["components"]["schemas"].get(reference.rpartition("/")[2], {})
    return str(schema.get("description", "A JSON object.")).partition("\n")[0]
