"""The examples of the document are what it says of them."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from skillroute_local.api_document.examples import examples
from skillroute_local.api_document.webhooks import EVENTS

from tests.openapi import published
from tests.unit.local.api_document.test_document_published import bodies, names_in

WITHOUT = {"JsonObject"}
"""Any object is one."""


def problems(name: str, value: Any) -> list[str]:
    """Return what is wrong with a value of a schema of the document."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": published()["components"]}
    checker = Draft202012Validator.FORMAT_CHECKER
    return [error.message for error in Draft202012Validator(schema, format_checker=checker).iter_errors(value)]


@pytest.mark.parametrize("name", sorted({*examples(), *EVENTS}))
def test_an_example_is_of_its_schema(name: str) -> None:
    schemas = published()["components"]["schemas"]
    assert name in schemas, f"no schema is called {name}: take it out of skillroute_local/api_document/examples.json"
    for example in schemas[name].get("examples", []):
        assert problems(name, example) == []


def test_a_wrong_example_would_be_seen() -> None:
    assert problems("SearchRequest", {"query": ""}) != []
    assert problems("SkillOut", {**examples()["SkillOut"], "created_at": 1}) != []


def test_every_request_and_answer_has_an_example() -> None:
    schemas = published()["components"]["schemas"]
    for what, schema in bodies():
        for name in set(names_in(schema)) - WITHOUT:
            assert schemas[name].get("examples"), (
                f"{what}: add an example of {name} to skillroute_local/api_document/examples.json"
            )


def test_every_event_has_an_example() -> None:
    events = [name for name in EVENTS if name.endswith("Event")]
    assert all(EVENTS[name]["examples"] for name in events)
    referred = {
        hook["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for hook in published()["webhooks"].values()
    }
    assert referred == set(events)
