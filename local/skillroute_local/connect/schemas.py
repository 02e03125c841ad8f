"""Validators for the JSON schemas of strangers: whatever a schema says, a check ends soon."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from skillroute.core.time.deadline import Deadline

from skillroute_local.schema_rules import rules_2020_12

_Keyword = Callable[[Validator, Any, Any, Any], Iterator[ValidationError] | None]

_LEFT_TO_THE_SERVER = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems")
"""A regular expression can hold the whole process for hours; the others take quadratic time, and more where nested."""

_MAX_PAIRS = 200_000
"""Of the entries of lists that cannot be sorted: the schema of schemas compares each with each."""

_MAX_WAIT_S = 2.0
"""Of a check whose steps are long: messages that nobody reads have large values in them."""

_left: ContextVar[tuple[Iterator[int], Deadline]] = ContextVar("left")


class TooLongError(Exception):
    """A check takes more steps than it may."""


@contextmanager
def at_most(steps: int) -> Iterator[None]:
    """Let checks within this block take so many keywords of schemas. Raises `TooLongError` at the next one."""
    token = _left.set((iter(range(steps)), Deadline(_MAX_WAIT_S)))
    try:
        yield
    finally:
        _left.reset(token)


@lru_cache(maxsize=256)
def validator_of(schema: str) -> Validator:
    """Return what checks by a schema, to be used within `at_most`; raises what `jsonschema` raises where it is none.

    Without the registry a `$ref` would be fetched from wherever it points. A `$schema` within the schema would bring
    back the keywords that are left out here.
    """
    read = json.loads(schema)
    kind = validator_for(read, default=Draft202012Validator)
    if _pairs(read) > _MAX_PAIRS:
        raise ValueError("it has long lists of unlike entries")
    if kind is Draft202012Validator:
        for problem in rules_2020_12().iter_errors(read):
            raise SchemaError.create_from(problem)
    else:
        kind.check_schema(read)
    keywords = {name: _counted(name, keyword) for name, keyword in kind.VALIDATORS.items()}
    lenient = extend(kind, keywords)
    found: Validator = lenient(_without_dialects(read), registry=Registry())
    return found


def _counted(name: str, keyword: _Keyword) -> _Keyword:
    def check(validator: Validator, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        steps, deadline = _left.get()
        if next(steps, None) is None or deadline.is_over:
            raise TooLongError
        if name in _LEFT_TO_THE_SERVER or (name == "additionalProperties" and "patternProperties" in schema):
            return
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _pairs(value: Any) -> int:
    match value:
        case dict():
            return sum(map(_pairs, value.values()))
        case list():
            return sum(map(_pairs, value)) + (0 if _can_be_sorted(value) else len(value) ** 2 // 2)
        case _:
            return 0


def _can_be_sorted(values: list[Any]) -> bool:
    try:
        sorted(values)
    except TypeError:
        return False
    return True


def _without_dialects(value: Any) -> Any:
    """Return a schema without the `$schema` of it and of what is in it; values to compare with stay as they are."""
    match value:
        case dict():
            return {
                name: inner if name in {"const", "enum"} else _without_dialects(inner)
                for name, inner in value.items()
                if name != "$schema" or not isinstance(inner, str)
            }
        case list():
            return [_without_dialects(inner) for inner in value]
        case _:
            return value
