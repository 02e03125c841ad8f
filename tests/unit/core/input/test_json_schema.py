"""Schemas of answers."""

from __future__ import annotations

from skillroute.core.input.json_schema import INTEGER, STRING, object_of


def test_an_object_has_no_other_properties_and_requires_those_that_are_named_in_their_order() -> None:
    assert object_of({"id": INTEGER, "name": STRING, "url": STRING}, "name", "id") == {
        "type": "object",
        "properties": {"id": INTEGER, "name": STRING, "url": STRING},
        "required": ["id", "name"],
        "additionalProperties": False,
    }


def test_an_object_requires_all_where_none_is_named() -> None:
    assert object_of({"id": INTEGER, "name": STRING})["required"] == ["id", "name"]
