"""docs/openapi.json, and what every operation of it must have: whoever adds a route is told what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from skillroute_local.api_document.glossary import FIELDS, PARAMETERS, SCHEMAS
from skillroute_local.api_document.walk import operations

from tests.openapi import PAGE, as_text, published

VERBS = {
    *("list", "get", "find", "search", "put", "patch", "create", "delete", "export", "import", "enable", "disable"),
    *(
        "approve",
        "reject",
        "merge",
        "report",
        "review",
        "classify",
        "describe",
        "explain",
        "finish",
        "acknowledge",
        "switch",
        "verify",
        "call",
        "post",
    ),
}
OF_ITS_OWN = {"post_mcp_message"}
"""Operations whose errors have the shape of another protocol."""
NOT_FOUND_CREATES = {"put_skill"}
PROBLEMS = {"Problem", "InvalidRequest", "StaleVersion", "GatewayRefusal"}
Operation = dict[str, Any]


def every() -> Iterator[tuple[str, Operation]]:
    return operations(published())


def responses_of(operation: Operation) -> dict[str, Any]:
    """Return the responses of an operation, those that are shared looked up."""
    shared = published()["components"]["responses"]
    return {
        status: shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
        for status, response in operation["responses"].items()
    }


def names_in(schema: dict[str, Any]) -> Iterator[str | None]:
    """Yield the names of the components that a schema is of: of one, a list or a choice; None for anything else."""
    if "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    elif schema.get("type") == "array":
        yield from names_in(schema["items"])
    elif "anyOf" in schema:
        for choice in schema["anyOf"]:
            if choice != {"type": "null"}:
                yield from names_in(choice)
    else:
        yield None


def bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema of every request and answer with what it is of."""
    for name, operation in every():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield f"the body of {name}", content["schema"]
        for status, response in responses_of(operation).items():
            for content in response.get("content", {}).values():
                if content["schema"].get("format") != "binary":
                    yield f"the answer {status} of {name}", content["schema"]


def test_the_committed_document_is_that_of_the_code() -> None:
    committed = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    assert committed == as_text(published()), "docs/openapi.json is not of this code: run `python -m tests.openapi`"


def test_operation_ids_read_as_functions() -> None:
    for name, operation in every():
        id_ = operation["operationId"]
        assert re.fullmatch(r"[a-z]+(_[a-z]+)+", id_), f"{name}: rename its function {id_}: verb_thing, in snake case"
        assert id_.partition("_")[0] in VERBS, (
            f"{name}: its function {id_} should begin with a verb of {sorted(VERBS)}; add yours to VERBS if none fits"
        )


def test_every_operation_says_what_it_does() -> None:
    for name, operation in every():
        assert operation.get("summary"), f"{name}: give its route summary=..."
        assert operation.get("description"), f"{name}: give its function a docstring"
        [tag] = operation["tags"]
        described = {tag["name"]: tag["description"] for tag in published()["tags"]}
        assert described[tag], f"{name}: describe the tag {tag} in _TAGS of skillroute_local/api_document/document.py"


def test_every_parameter_is_described() -> None:
    for name, operation in every():
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (
                f"{name}: describe the parameter {parameter['name']}: Query(description=...), or PARAMETERS in "
                "skillroute_local/api_document/glossary.py where it means the same on other routes"
            )


def test_every_schema_and_field_is_described() -> None:
    for name, schema in published()["components"]["schemas"].items():
        assert schema.get("description"), f"{name}: give the model a docstring"
        for field, shape in schema.get("properties", {}).items():
            assert shape.get("description"), (
                f"{name}.{field}: describe it: Field(description=...), or FIELDS in "
                "skillroute_local/api_document/glossary.py where the name means the same elsewhere"
            )


def test_examples_have_only_fields_that_their_schema_names_or_says_to_allow() -> None:
    # As Redocly's linter has it, which needs Node and is no part of the tests.
    found = []
    for name, schema in published()["components"]["schemas"].items():
        if "properties" in schema and not schema.get("additionalProperties"):
            unnamed = {field for example in schema.get("examples", ()) for field in example} - set(schema["properties"])
            found += [(name, field) for field in sorted(unnamed)]
    assert found == []


def test_the_glossary_describes_nothing_that_is_not_there() -> None:
    schemas = published()["components"]["schemas"]
    texts = {(field, shape["description"]) for schema in schemas.values() for field, shape in fields_of(schema)}
    parameters = {
        (parameter["name"], parameter["description"])
        for _, operation in every()
        for parameter in operation.get("parameters", ())
    }
    for known, found in ((FIELDS, texts), (PARAMETERS, parameters)):
        for key, text in known.items():
            name = key.rpartition(".")[2]
            assert (name, text) in found, f"nothing is described as {key!r}: take it out of the glossary"
    assert set(SCHEMAS) <= set(schemas), f"no such schema: take {set(SCHEMAS) - set(schemas)} out of the glossary"


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()


def test_every_operation_lists_its_errors() -> None:
    for name, operation in every():
        if operation["operationId"] in OF_ITS_OWN:
            continue
        listed = set(operation["responses"])
        expected = {"401", "429"}
        if operation["security"][0]["token"]:
            expected |= {"403", "422", "503"}
        if "requestBody" in operation:
            expected |= {"400", "413", "415"}
        given = {parameter["name"]: parameter["in"] for parameter in operation.get("parameters", ())}
        if "path" in given.values() and operation["operationId"] not in NOT_FOUND_CREATES:
            expected |= {"404"}
        if "If-Match" in given:
            expected |= {"412"}
        assert expected <= listed, (
            f"{name}: it should list {sorted(expected - listed)}: responses=ERRORS on its router; NOT_FOUND, CONFLICT "
            "(core/http/docs.py) and STALE (core/http/versions.py) on the route"
        )


def test_errors_have_the_shape_of_errors() -> None:
    for name, operation in every():
        for status, response in responses_of(operation).items():
            if status.startswith(("2", "304")) or operation["operationId"] in OF_ITS_OWN or name == "GET /ready":
                continue
            [content] = response["content"].values()
            assert set(names_in(content["schema"])) <= PROBLEMS, f"{name}: its answer {status} is not one of {PROBLEMS}"


def test_every_schema_is_a_component_with_a_name() -> None:
    for what, schema in bodies():
        assert None not in set(names_in(schema)), f"{what}: make it a model, so that it has a name"
    for name, schema in published()["components"]["schemas"].items():
        for field, shape in inner_objects(schema):
            raise AssertionError(f"{name}.{field}: {json.dumps(shape)[:200]} has no name")


def inner_objects(schema: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        if at and schema.get("type") == "object" and "properties" in schema:
            yield at, schema
        for key, value in schema.items():
            if key not in {"examples", "default"}:
                yield from inner_objects(value, f"{at}.{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from inner_objects(value, f"{at}.{index}")


def test_every_list_says_what_is_in_it() -> None:
    def lists(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            kinds = node.get("type")
            if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
                yield node
            for key, value in node.items():
                if key != "examples":
                    yield from lists(value)
        elif isinstance(node, list):
            for value in node:
                yield from lists(value)

    assert [shape for shape in lists(published()) if not {"items", "prefixItems"} & set(shape)] == []


def test_no_operation_lets_in_callers_without_an_identity() -> None:
    schemes = set(published()["components"]["securitySchemes"])
    for name, operation in every():
        assert [set(choice) for choice in operation["security"]] == [{scheme} for scheme in sorted(schemes)][::-1], name
