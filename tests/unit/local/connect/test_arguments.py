"""Arguments against a tool's schema: what is wrong is said so that a model can mend it; strange schemas do no harm."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from skillroute_local.connect.arguments import argument_problems, as_text
from skillroute_local.connect.schemas import TooLongError, at_most, validator_of

EVENT = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["meeting", "call"]},
        "where": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
    },
    "required": ["title"],
    "additionalProperties": False,
}


def problems(schema: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    return anyio.run(argument_problems, schema, arguments)


def test_arguments_that_fit_have_no_problems() -> None:
    assert problems(EVENT, {"title": "a", "count": 2, "kind": "call", "where": {"room": "1"}}) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "arguments: title missing"),
        ({"title": 3}, "title: must be string, not 3"),
        ({"title": "a", "count": "2"}, 'count: must be integer, not "2"'),
        ({"title": "a", "count": 0}, "count: 0 is less than the minimum of 1"),
        ({"title": "a", "kind": "talk"}, 'kind: must be one of ["meeting", "call"], not "talk"'),
        ({"title": "a", "where": {}}, "where: room missing"),
        ({"title": "a", "tite": 1}, "arguments: tite is not known (did you mean title?)"),
        ({"title": "a", "zzz": 1}, "arguments: zzz is not known"),
    ],
)
def test_what_is_wrong_is_named_with_the_remedy(arguments: dict[str, Any], expected: str) -> None:
    assert problems(EVENT, arguments) == [expected]


def test_no_more_than_a_few_problems_are_named_and_each_is_short() -> None:
    schema = {"additionalProperties": {"type": "integer"}}
    found = problems(schema, {f"a{number}": "x" * 100_000 for number in range(100)})
    assert len(found) == 5
    assert max(map(len, found)) <= 300


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "whole number"},
        {"properties": {"n": {"type": "whole number"}}},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"$schema": "http://nowhere.example/", "required": 3},
        {"properties": 3},
    ],
)
def test_a_schema_that_cannot_be_used_lets_everything_through(schema: dict[str, Any]) -> None:
    assert problems(schema, {"n": 1}) == []


def test_nothing_is_fetched_that_a_schema_refers_to(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *asked, **_: fetched.append(asked))
    assert problems({"$ref": "http://127.0.0.1:9/schema.json"}, {}) == []
    assert fetched == []


def test_a_schema_that_is_too_deep_lets_everything_through() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    value: Any = "x"
    for _ in range(2_000):
        schema, value = {"properties": {"a": schema}}, {"a": value}
    assert problems(schema, value) == []


def test_regular_expressions_are_left_to_the_server() -> None:
    # Backtracking over this one would take longer than the universe is old.
    schema = {
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
        "patternProperties": {"^(a+)+$": {}},
        "additionalProperties": False,
    }
    assert problems(schema, {"a": "a" * 64 + "!", "a" * 64 + "!": 1}) == []


DEEP: Any = {}
for _ in range(30):
    DEEP = {"a": DEEP}

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERRING = {"anyOf": [{"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["z"]}] * 2}


@pytest.mark.parametrize(
    "schema",
    [
        {"unevaluatedProperties": False},
        {"properties": {"list": {"uniqueItems": True}}},
        {"properties": {"list": {"unevaluatedItems": False}}},
        {"properties": {"a": {"$schema": _DIALECT, "unevaluatedProperties": False}}},
        {"properties": {"list": {"$schema": _DIALECT, "uniqueItems": True}}},
    ],
)
def test_what_takes_quadratic_time_is_left_to_the_server(schema: dict[str, Any]) -> None:
    assert problems(schema, {"a": {"b": 1}, "list": [1, 1]}) == []


def test_a_check_that_would_not_end_gives_up() -> None:
    # 2 to the power of 30 steps; the last one would find that something is missing.
    schema = {"$defs": {"x": _REFERRING}, "$ref": "#/$defs/x"}
    assert problems(schema, DEEP) == []
    with at_most(100), pytest.raises(TooLongError):
        list(validator_of(json.dumps(schema)).iter_errors(DEEP))


def test_a_check_that_takes_some_thousands_of_steps_is_finished() -> None:
    schema = {"properties": {"list": {"items": {"type": "integer"}}}}
    assert problems(schema, {"list": [*range(3_000), "x"]}) == ['list.3000: must be integer, not "x"']


def test_a_schema_whose_lists_would_be_compared_for_long_lets_everything_through() -> None:
    mixed = [value for number in range(1_000) for value in (number, str(number))]
    draft = "http://json-schema.org/draft-04/schema#"
    assert problems({"$schema": draft, "enum": mixed}, {}) == []


def test_a_long_schema_is_shown_cut() -> None:
    assert as_text({"type": "object"}) == '{"type": "object"}'
    assert len(as_text({"description": "x" * 10_000})) == 4_001
