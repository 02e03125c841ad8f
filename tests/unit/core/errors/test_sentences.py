"""What an error says of a pattern, and of all that a model refuses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AliasChoices, AwareDatetime, BaseModel, ConfigDict, Field
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.sentences import sentence_of, spelt
from skillroute.core.input.json_input import validated

TIME = "must be a time in RFC 3339 format with its zone, such as 2026-01-31T12:00:00Z"
PATTERN = "^of-this-test-[a-z]+$"


def test_a_pattern_has_one_sentence() -> None:
    spelt(PATTERN, "must be of this test")
    spelt(PATTERN, "must be of this test")
    with pytest.raises(ValueError, match="has the sentence 'must be of this test' already"):
        spelt(PATTERN, "must be of another")
    found = {"type": "string_pattern_mismatch", "msg": "String should match", "ctx": {"pattern": PATTERN}}
    assert sentence_of(found) == "must be of this test"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    shape: Literal["round", "square"] = "round"
    colour: str = Field("red", validation_alias=AliasChoices("colour", "color"))


class Other(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    weight: float


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=3)]
    words: tuple[str, ...] = ()
    numbers: list[Annotated[int, Field(ge=1)]] = Field([], max_length=1)
    parts: list[Inner] | None = None
    either: Inner | Other | None = None
    at: AwareDatetime | None = None


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, ["name: is missing"]),
        ({"name": ""}, ["name: must not be empty"]),
        ({"name": "four"}, ["name: must have at most 3 characters"]),
        ({"name": "a", "words": "b"}, ["words: must be a list"]),
        ({"name": "a", "numbers": ["1", 0]}, ["numbers: must have at most 1 entry"]),
        ({"name": "a", "numbers": [0]}, ["numbers.0: must be at least 1"]),
        ({"name": "a", "numbers": [1.5]}, ["numbers.0: must be a whole number"]),
        ({"name": "a", "parts": {}}, ["parts: must be a list"]),
        ({"name": "a", "parts": [7]}, ["parts.0: must be an object"]),
        ({"name": "a", "parts": [{"shape": "flat"}]}, ["parts.0.shape: must be 'round' or 'square'"]),
        ({"naem": "a"}, ["name: is missing", "naem: is not a known field: did you mean name?"]),
        (
            {"name": "a", "x": 1},
            ["x: is not a known field; known are at, either, name, numbers, parts, words"],
        ),
        ({"name": "a", "parts": [{"collor": 1}]}, ["parts.0.collor: is not a known field: did you mean color?"]),
        ({"name": "a", "parts": [{"x": 1}]}, ["parts.0.x: is not a known field; known are color, colour, shape"]),
        ({"name": "a", "at": "yesterday"}, [f"at: {TIME}"]),
    ],
)
def test_what_is_wrong_is_said_without_the_words_of_the_program(value: dict[str, Any], says: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(Outer, value, whole="body")
    found = [f"{problem.field}: {problem.message}" for problem in refused.value.problems]
    assert found == says


def test_of_several_shapes_the_one_that_an_error_is_of_names_its_fields() -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(Outer, {"name": "a", "either": {"wait": 1}}, whole="body")
    said = {problem.field: problem.message for problem in refused.value.problems}
    assert said["either.Inner.wait"] == "is not a known field; known are color, colour, shape"
    assert said["either.Other.weight"] == "is missing"
    assert said["either.Other.wait"] == "is not a known field; known are weight"
