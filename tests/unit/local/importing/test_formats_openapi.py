"""OpenAPI 3 documents: operations become tools whose schemas stand alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from skillroute_local.importing.model import Scope, Unreadable
from skillroute_local.importing.openapi.names import made_name, server_name
from skillroute_local.importing.openapi.references import References
from skillroute_local.importing.openapi.schemas import Schemas

from tests.unit.local.importing.reading import Read, read_path, strings, written

PETSTORE = """
openapi: 3.0.3
info: {title: Pet Store, version: 1.0.0}
servers: [{url: https://pets.example/v1}]
paths:
  /pets/{petId}:
    parameters:
      - {$ref: '#/components/parameters/PetId'}
    get:
      operationId: getPet
      summary: Get a pet
      description: Returns one pet by its id.
      tags: [pets]
      responses: {200: {description: The pet}}
    put:
      summary: Change a pet
      deprecated: true
      parameters:
        - {name: dryRun, in: query, schema: {type: boolean, nullable: true}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: petId, in: query, schema: {type: string}}
      requestBody:
        description: The pet as it shall be.
        required: true
        content:
          text/plain: {schema: {type: string}}
          application/json: {schema: {$ref: '#/components/schemas/Pet'}}
      responses: {204: {description: Done}}
    delete:
      responses: {204: {description: Gone}}
components:
  parameters:
    PetId:
      name: petId
      in: path
      required: true
      description: The pet's id.
      schema: {type: integer, minimum: 0, exclusiveMinimum: true, example: 7}
  schemas:
    Pet:
      type: object
      required: [name, id]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
        kind: {type: string, enum: [cat, dog], nullable: true}
        parent: {$ref: '#/components/schemas/Pet'}
      discriminator: {propertyName: kind}
      x-internal: true
"""


def document(**paths: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "API"}, "paths": {f"/{name}": item for name, item in paths.items()}}


def read_document(tmp_path: Path, content: object, name: str = "api.json") -> Read:
    found = read_path(written(tmp_path, name, content))
    for value in found.values.values():
        schema = value["input_schema"]
        Draft202012Validator.check_schema(schema)
        references = [text for text in strings(schema) if text.startswith("#/")]
        assert all(ref.removeprefix("#/$defs/") in schema["$defs"] for ref in references)
    return found


def test_an_operation_becomes_a_tool(tmp_path: Path) -> None:
    found = read_document(tmp_path, PETSTORE, "petstore.yaml")

    assert found.refused == []
    assert [row.where for row in found.rows] == [
        f"petstore.yaml#/paths/~1pets~1{{petId}}/{method}" for method in ("get", "put", "delete")
    ]
    assert found.values["getPet"] == {
        "type": "tool",
        "server": "pet-store",
        "name": "getPet",
        "description": "Get a pet.\nReturns one pet by its id.",
        "input_schema": {
            "type": "object",
            "properties": {
                "petId": {
                    "type": "integer",
                    "exclusiveMinimum": 0,
                    "examples": [7],
                    "description": "The pet's id.",
                }
            },
            "required": ["petId"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "title": "Get a pet"},
        "tags": ["pets"],
        "metadata": {
            "http": {
                "method": "GET",
                "path": "/pets/{petId}",
                "arguments": {"petId": {"in": "path", "name": "petId"}},
                "url": "https://pets.example/v1",
            }
        },
    }
    assert found.reading.scopes == (Scope("pet-store", "tool"),)


def test_the_body_is_an_argument_and_parameters_of_one_name_are_told_apart(tmp_path: Path) -> None:
    put = read_document(tmp_path, PETSTORE, "petstore.yaml").values["put_pets_petId"]

    schema = put["input_schema"]
    assert list(schema["properties"]) == ["petId", "dryRun", "query_petId", "body"]
    assert schema["required"] == ["petId", "body"]
    assert schema["properties"]["dryRun"] == {"type": ["boolean", "null"]}
    assert put["metadata"]["http"]["arguments"] == {
        "petId": {"in": "path", "name": "petId"},
        "dryRun": {"in": "query", "name": "dryRun"},
        "query_petId": {"in": "query", "name": "petId"},
        "body": {"in": "body", "name": "application/json"},
    }
    assert put["description"] == "Deprecated. Change a pet"


def of_body(tmp_path: Path, **body: Any) -> Any:
    values = read_document(tmp_path, document(x={"post": {"requestBody": body}})).values
    return values["post_x"]["input_schema"]["properties"]["body"]


def test_a_body_that_nothing_describes_is_described_by_what_it_is_made_of(tmp_path: Path) -> None:
    parts = {f"part_{number}": {"type": "string"} for number in range(10)}
    json_of = {"application/json": {"schema": {"type": "object", "properties": parts}}}

    of_parts = of_body(tmp_path, content=json_of)
    of_text = of_body(tmp_path, content={"text/csv": {"schema": {"type": "string"}}})

    first = ", ".join(f"part_{number}" for number in range(8))
    assert of_parts["description"] == f"What is sent: {first} and 2 more"
    assert of_text["description"] == "What is sent, as text/csv"


def test_what_the_document_says_of_a_body_stays(tmp_path: Path) -> None:
    described = {"application/json": {"schema": {"type": "object", "description": "An order."}}}

    assert of_body(tmp_path, content=described)["description"] == "An order."
    assert of_body(tmp_path, content=described, description="What is ordered.")["description"] == "What is ordered."


def test_references_are_replaced_and_what_has_no_end_leads_to_defs(tmp_path: Path) -> None:
    schema = read_document(tmp_path, PETSTORE, "petstore.yaml").values["put_pets_petId"]["input_schema"]

    body = schema["properties"]["body"]
    assert body == {
        "type": "object",
        "description": "The pet as it shall be.",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "kind": {"type": ["string", "null"], "enum": ["cat", "dog", None]},
            "parent": {"$ref": "#/$defs/Pet"},
        },
    }
    assert schema["$defs"]["Pet"]["properties"]["parent"] == {"$ref": "#/$defs/Pet"}
    pet = {"name": "Rex", "parent": {"name": "Rexana", "parent": {"name": 7}}}
    wrong = [error.json_path for error in Draft202012Validator(schema).iter_errors({"petId": 1, "body": pet})]
    assert wrong == ["$.body.parent.parent.name"]


@pytest.mark.parametrize(
    ("schema", "takes", "refuses"),
    [
        ({"allOf": [{"$ref": "#/components/schemas/Name"}]}, [None, "a"], [1, ""]),
        ({"type": "string", "allOf": [{"$ref": "#/components/schemas/Name"}]}, [None, "a"], [1, ""]),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, [None, "a", 1], [[]]),
        ({"enum": ["a"]}, [None, "a"], ["b"]),
        ({"type": "string", "enum": ["a"]}, [None, "a"], ["b", 1]),
        ({"type": ["string", "integer"]}, [None, "a", 1], [[]]),
        ({"type": ["string", "null"]}, [None, "a"], [1]),
        ({}, [None, "a", 1], []),
    ],
)
def test_what_may_be_null_takes_null_whatever_is_beside_it(
    tmp_path: Path, schema: dict[str, Any], takes: list[Any], refuses: list[Any]
) -> None:
    parameter = {"name": "n", "in": "query", "schema": {**schema, "nullable": True, "description": "Its name."}}
    names = {"components": {"schemas": {"Name": {"type": "string", "minLength": 1}}}}

    found = read_document(tmp_path, document(x={"get": {"parameters": [parameter]}}) | names)

    made = found.values["get_x"]["input_schema"]["properties"]["n"]
    validator = Draft202012Validator(made)
    assert [value for value in [*takes, *refuses] if validator.is_valid(value)] == takes
    assert made["description"] == "Its name."
    assert "nullable" not in json.dumps(made)


def test_names_that_are_made_do_not_depend_on_the_order(tmp_path: Path) -> None:
    paths = {"/a/b": {"get": {}}, "/a_b": {"get": {}}, "/c": {"get": {}}}
    both = [
        read_document(tmp_path, {"openapi": "3.0.0", "info": {"title": "API"}, "paths": dict(order)})
        for order in (paths.items(), reversed(paths.items()))
    ]

    names = [{row.where: row.value["name"] for row in found.rows} for found in both]
    assert names[0] == names[1]
    assert sorted(name[:7] for name in names[0].values()) == ["get_a_b", "get_a_b", "get_c"]
    assert len(set(names[0].values())) == 3


@pytest.mark.parametrize(
    ("operation", "place", "reason"),
    [
        (
            {"parameters": [{"$ref": "#/components/parameters/None"}]},
            "/parameters/0/$ref",
            "'#/components/parameters/None' leads nowhere: there is no 'components'",
        ),
        (
            {"parameters": [{"$ref": f"#/paths/~1bad/get/parameters/{'9' * 5000}"}]},
            "/parameters/0/$ref",
            f"'#/paths/~1bad/get/parameters/{'9' * 171}' leads nowhere: there is no '{'9' * 64}'",
        ),
        (
            {"parameters": [{"$ref": "other.yaml#/a"}]},
            "/parameters/0/$ref",
            "'other.yaml#/a' leads out of the document: bundle it into one file first",
        ),
        ({"parameters": [{"in": "query"}]}, "/parameters/0/name", "must be a text"),
        (
            {"parameters": [{"name": "a", "in": "body"}]},
            "/parameters/0/in",
            "must be one of cookie, header, path, query, querystring",
        ),
        ({"parameters": {}}, "/parameters", "must be a list of parameters"),
        ({"parameters": ["a"]}, "/parameters/0", "must be an object"),
        ({"requestBody": {"$ref": "#/None"}}, "/requestBody/$ref", "'#/None' leads nowhere: there is no 'None'"),
        (
            {"parameters": [{"name": "n", "in": "query", "schema": {"$ref": "#/None"}}]},
            "/parameters/0/schema/$ref",
            "'#/None' leads nowhere: there is no 'None'",
        ),
        ({"requestBody": {"content": {}}}, "/requestBody/content", "must be an object with a media type"),
        (
            {"requestBody": {"content": {"application/json": {"schema": 7}}}},
            "/requestBody/content/application~1json/schema",
            "must be a schema: an object, true or false",
        ),
        (
            {"parameters": [{"name": "n", "in": "query", "schema": {"type": "whole"}}]},
            "",
            "input_schema.properties.n.type: is not a JSON Schema: 'whole' is not valid under any of the given schemas",
        ),
    ],
)
def test_what_is_wrong_in_an_operation_is_left_out_and_named_and_the_tool_is_kept(
    tmp_path: Path, operation: dict[str, Any], place: str, reason: str
) -> None:
    found = read_document(tmp_path, document(bad={"summary": "Odd", "get": operation}, good={"get": {}}))

    assert (list(found.values), found.refused) == (["get_bad", "get_good"], [])
    assert found.values["get_bad"]["description"] == "Odd"
    assert list(found.reading.left_out) == [f"api.json#/paths/~1bad/get{place}: left out: {reason}"]


def test_a_parameter_that_cannot_be_read_leaves_the_others_and_those_of_the_path(tmp_path: Path) -> None:
    parameters = [{"$ref": "other.yaml#/id"}, {"name": "limit", "in": "query", "schema": {"type": "integer"}}]

    found = read_document(tmp_path, {"openapi": "3.1.0", "paths": {"/a/{id}/b": {"get": {"parameters": parameters}}}})

    [value] = found.values.values()
    assert value["input_schema"]["properties"] == {"limit": {"type": "integer"}, "id": {}}
    assert value["input_schema"]["required"] == ["id"]
    assert value["metadata"]["http"]["arguments"]["id"] == {"in": "path", "name": "id"}


def test_operations_may_stand_elsewhere_in_the_document_and_not_in_another_one(tmp_path: Path) -> None:
    listing = {"operationId": "listOrders", "summary": "List", "parameters": [{"name": "n", "in": "query"}]}
    paths = {
        "/a": {"get": {"$ref": "#/components/x-operations/list"}},
        "/b": {"get": {"$ref": "b.yml"}},
        "/c": {"get": {"$ref": "#/components/x-operations/list", "operationId": "again"}},
        "/d": {"$ref": "#/paths/~1c", "post": {"operationId": "made"}},
    }

    found = read_document(
        tmp_path, {"openapi": "3.0.3", "paths": paths, "components": {"x-operations": {"list": listing}}}
    )

    assert list(found.values) == ["listOrders", "again", "made"]
    assert found.values["listOrders"]["description"] == "List"
    assert list(found.values["listOrders"]["input_schema"]["properties"]) == ["n"]
    assert found.refused[0] == (
        "api.json#/paths/~1b/get/$ref: 'b.yml' leads out of the document: bundle it into one file first"
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": False},
         {"type": "array", "prefixItems": [{"type": "string"}], "items": False}),
        ({"id": "#x", "$vocabulary": {}, "type": "string"}, {"type": "string"}),
        ({"type": "object", "properties": {"a": {"type": "string", "required": True}}},
         {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ({"type": "object", "required": ["a", "a"]}, {"type": "object", "required": ["a"]}),
        ({"dependencies": {"a": ["b"], "c": {"minProperties": 2}}},
         {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}}),
        ({"type": "string", "typeName": "Unknown"}, {"type": "string", "typeName": "Unknown"}),
    ],
)  # fmt: skip
def test_keywords_of_other_dialects_are_said_as_this_draft_says_them(
    tmp_path: Path, schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    parameters = [{"name": "n", "in": "query", "schema": schema}]

    found = read_document(tmp_path, document(x={"get": {"parameters": parameters}}))

    assert found.values["get_x"]["input_schema"]["properties"]["n"] == expected
    assert (found.refused, list(found.reading.left_out)) == ([], [])


@pytest.mark.parametrize(
    ("anchor", "ref"),
    [
        ({"$recursiveAnchor": True}, {"$recursiveRef": "#"}),
        ({"$dynamicAnchor": "node"}, {"$dynamicRef": "#node"}),
        ({"$anchor": "node"}, {"$ref": "#node"}),
        ({"$id": "https://example.com/node"}, {"$ref": "https://example.com/node"}),
        ({}, {"$ref": "api.json#/components/schemas/Node"}),
    ],
)
def test_a_schema_that_is_referred_to_by_another_name_is_found(
    tmp_path: Path, anchor: dict[str, Any], ref: dict[str, Any]
) -> None:
    node = {**anchor, "type": "object", "properties": {"inner": {"type": "array", "items": ref}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}

    found = read_document(
        tmp_path, document(x={"post": {"requestBody": body}}) | {"components": {"schemas": {"Node": node}}}
    )

    assert (found.refused, list(found.reading.left_out)) == ([], [])
    schema = found.values["post_x"]["input_schema"]
    items = schema["properties"]["body"]["properties"]["inner"]["items"]
    assert items["$ref"].startswith("#/$defs/") or items["properties"]["inner"]["items"]["$ref"].startswith("#/$defs/")


def test_how_a_value_is_written_is_kept_beside_where_it_goes(tmp_path: Path) -> None:
    parameters = [
        {"name": "filter", "in": "query", "style": "deepObject", "explode": True, "schema": {"type": "object"}},
        {"name": "path", "in": "query", "allowReserved": True, "example": "a/b", "schema": {"type": "string"}},
        {"name": "where", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        {"name": "old", "in": "query", "deprecated": True, "schema": {"type": "string"}},
    ]
    form = {"schema": {"type": "object"}, "encoding": {"tags": {"style": "form", "explode": False}}}
    body = {"content": {"application/x-www-form-urlencoded": form}}

    found = read_document(tmp_path, document(x={"post": {"parameters": parameters, "requestBody": body}}))

    value = found.values["post_x"]
    assert value["metadata"]["http"]["arguments"] == {
        "filter": {"in": "query", "name": "filter", "style": "deepObject", "explode": True},
        "path": {"in": "query", "name": "path", "allowReserved": True},
        "where": {"in": "query", "name": "where", "contentType": "application/json"},
        "old": {"in": "query", "name": "old"},
        "body": {"in": "body", "name": "application/x-www-form-urlencoded", "encoding": form["encoding"]},
    }
    properties = value["input_schema"]["properties"]
    assert (properties["path"]["examples"], properties["old"]["deprecated"]) == (["a/b"], True)


def test_credentials_of_an_address_are_masked_and_named(tmp_path: Path) -> None:
    found = read_document(
        tmp_path, document(x={"get": {}}) | {"servers": [{"url": "https://me:hunter2@api.example/v1"}]}
    )

    assert found.values["get_x"]["metadata"]["http"]["url"] == "https://***@api.example/v1"
    assert list(found.reading.left_out) == [
        "api.json#/paths/~1x/get: api.json#/servers: left out: credentials in the address"
    ]


def test_what_is_no_operation_is_named_instead_of_silence(tmp_path: Path) -> None:
    more = {"x": {"additionalOperations": {"COPY": {"summary": "Copy"}}, "get": {}}}

    found = read_document(tmp_path, document(**more))
    hooks = read_document(tmp_path, {"openapi": "3.1.0", "webhooks": {"a": {"post": {}}}})

    assert list(found.reading.left_out) == [
        "api.json#/paths/~1x/additionalOperations/COPY: left out: its method is not read"
    ]
    assert hooks.reading.notes == ("has no operation under api.json#/paths; callbacks and webhooks are not imported",)


def test_references_that_go_round_end(tmp_path: Path) -> None:
    looping = {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}}
    found = read_document(
        tmp_path,
        document(x={"get": {"parameters": [{"$ref": "#/components/parameters/a"}]}})
        | {"components": {"parameters": looping}},
    )

    assert list(found.reading.left_out) == [
        "api.json#/paths/~1x/get/parameters/0/$ref: left out: leads through more than 8 references"
    ]


def test_schemas_that_unfold_without_measure_are_bounded(tmp_path: Path) -> None:
    # GIVEN thirty schemas, each of which has the next one twice: unfolded, a thousand million
    doubled = {
        f"S{n}": {"type": "object", "properties": {side: {"$ref": f"#/components/schemas/S{n + 1}"} for side in "lr"}}
        for n in range(30)
    }
    schemas = {**doubled, "S30": {"type": "string"}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}

    found = read_document(tmp_path, document(x={"post": {"requestBody": body}}) | {"components": {"schemas": schemas}})

    # THEN the tool has them all, each once
    [value] = found.values.values()
    assert len(value["input_schema"]["$defs"]) >= 24
    assert len(json.dumps(value)) < 10_000


def test_a_schema_that_would_be_large_has_each_part_once(tmp_path: Path) -> None:
    wide = {"type": "object", "properties": {f"property_{n}": {"type": "string"} for n in range(500)}}
    sides = {side: {"$ref": "#/components/schemas/Wide"} for side in ("left", "right")}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": sides}}}}

    found = read_document(
        tmp_path, document(x={"post": {"requestBody": body}}) | {"components": {"schemas": {"Wide": wide}}}
    )

    schema = found.values["post_x"]["input_schema"]
    assert schema["properties"]["body"]["properties"]["right"] == {"$ref": "#/$defs/Wide"}
    assert schema["$defs"]["Wide"] == wide


def test_what_replaces_references_is_bounded_in_number() -> None:
    # GIVEN six levels of schemas that have the next one ten times: unfolded, a million
    levels = {f"S{n}": {"anyOf": [{"$ref": f"#/S{n + 1}"}] * 10} if n < 6 else {"type": "string"} for n in range(7)}
    schemas = Schemas(References(levels, "d#"))

    made = schemas.of({"$ref": "#/S0"}, "d#")

    assert len(json.dumps(made)) < 500_000  # unfolded, 20 MB
    assert set(schemas.definitions()) >= {"S6"}


def test_what_replaces_references_is_bounded_in_size() -> None:
    # GIVEN one schema of 20 kB that is referred to five hundred times
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(800)}}
    schemas = Schemas(References({"Wide": wide}, "d#"))

    made = schemas.of({"anyOf": [{"$ref": "#/Wide"}] * 500}, "d#")

    assert len(json.dumps(made)) < 100_000  # all of them, 10 MB
    assert schemas.definitions() == {"Wide": wide}


def test_an_operation_that_leads_to_very_much_has_a_part_of_it(tmp_path: Path) -> None:
    wide = {"type": "object", "description": "x" * 100_000}
    schemas = {f"S{n}": {**wide, "properties": {"a": {"$ref": f"#/components/schemas/S{n + 1}"}}} for n in range(5)}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    components = {"components": {"schemas": {**schemas, "S5": {}}}}

    found = read_document(tmp_path, document(x={"post": {"requestBody": body}}, y={"get": {}}) | components)

    assert (list(found.values), found.refused) == (["post_x", "get_y"], [])
    assert len(json.dumps(found.values["post_x"])) < 256 * 1024
    assert list(found.reading.left_out) == [
        "api.json#/paths/~1x/post: api.json#/components/schemas/S1: left out: its schemas lead to more than 300 "
        "others, or to others of 192 KB"
    ]


def test_references_may_lead_anywhere_in_the_document(tmp_path: Path) -> None:
    first = {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]}
    second = {"parameters": [{"$ref": "#/paths/~1a~1%7Bid%7D/get/parameters/0"}]}
    paths = {"/a/{id}": {"get": first}, "/b/{id}": {"get": second}}

    found = read_document(tmp_path, {"openapi": "3.1.0", "info": {"title": "API"}, "paths": paths})

    # A parameter of the path is required, whether it says so or not.
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    assert [value["input_schema"] for value in found.values.values()] == [schema, schema]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"swagger": "2.0"}, "api.json#: is of version 2.0; OpenAPI 3 is read: convert it first"),
        ({"openapi": "3.0.0", "paths": []}, "api.json#/paths: must be an object"),
    ],
)
def test_a_document_that_cannot_be_read_says_why(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read_document(tmp_path, content)

    assert str(raised.value) == problem


def test_names_are_made_of_titles_and_paths() -> None:
    assert server_name("Swagger Petstore - OpenAPI 3.0", "file") == "swagger-petstore-openapi-3.0"
    assert server_name(" ", "file") == server_name(None, "file") == "file"
    assert made_name("get", "/pets/{petId}/photos") == "get_pets_petId_photos"
    assert made_name("get", "/") == "get"


_SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}, True]),
    lambda inner: st.one_of(
        st.builds(lambda each: {"type": "array", "items": each}, inner),
        st.builds(lambda each: {"anyOf": each}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda each: {"type": "object", "properties": each}, st.dictionaries(st.text(max_size=3), inner)),
    ),
    max_leaves=8,
)


@given(a=_SCHEMAS, b=_SCHEMAS, root=_SCHEMAS)
def test_whatever_leads_to_whatever_the_schema_stands_alone(a: object, b: object, root: object) -> None:
    schemas = Schemas(References({"components": {"schemas": {"A": a, "B": b}}}, "d#"))

    made = {"properties": {"x": schemas.of(root, "d#/root")}, "$defs": schemas.definitions()}

    Draft202012Validator.check_schema(made)
    targets = {text for text in strings(made) if text.startswith("#/")}
    assert targets <= {f"#/$defs/{name}" for name in made["$defs"]}
