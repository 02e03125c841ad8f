"""Checking arguments against a tool's JSON schema before its server sees them, with errors that a model can mend."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import anyio.to_thread
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.exceptions import Unresolvable

from skillroute_local.connect.schemas import TooLongError, at_most, validator_of

MAX_PROBLEMS = 5
_MAX_PROBLEM_LENGTH = 300
_MAX_SCHEMA_LENGTH = 4_000
_SMALL = 16_000  # characters
_LARGEST_SCHEMA = 1_000_000
_STEPS_IN_PLACE, _STEPS = 500, 20_000
"""Keywords of a schema that a check may take, at 10 to 50 µs: milliseconds in the event loop, else in a thread."""


async def argument_problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with arguments, a sentence each; none where that cannot be told, for the server checks too.

    It cannot be told by a schema that is none, that refers to what is elsewhere, or that takes too long: schemas come
    from strangers.
    """
    try:
        text = json.dumps(schema)
        size = len(text) + len(json.dumps(arguments))
    except (RecursionError, ValueError):
        return []
    if size <= _SMALL:
        with suppress(TooLongError):
            return _problems(text, arguments, _STEPS_IN_PLACE)
    if len(text) <= _LARGEST_SCHEMA:
        with suppress(TooLongError):
            return await anyio.to_thread.run_sync(_problems, text, arguments, _STEPS)
    return []


def as_text(schema: Mapping[str, Any]) -> str:
    """Return a schema as error messages show it, cut where it is long."""
    text = json.dumps(schema, ensure_ascii=False)
    return text if len(text) <= _MAX_SCHEMA_LENGTH else f"{text[:_MAX_SCHEMA_LENGTH]}…"


def _problems(schema: str, arguments: Mapping[str, Any], steps: int) -> list[str]:
    """Return what is wrong with arguments. Raises `TooLongError`; it ends by itself, for a thread cannot be ended."""
    try:
        with at_most(steps):
            errors = islice(validator_of(schema).iter_errors(arguments), MAX_PROBLEMS)
            return [_sentence(error) for error in errors]
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, KeyError, AttributeError):
        return []


def _sentence(error: ValidationError) -> str:
    where = ".".join(str(step) for step in error.absolute_path)
    instance = error.instance
    if error.validator == "required" and isinstance(instance, Mapping):
        missing = [name for name in error.validator_value if name not in instance]
        text = f"{', '.join(map(str, missing))} missing"
    elif error.validator == "additionalProperties" and isinstance(instance, Mapping):
        known = list(error.schema.get("properties", ())) if isinstance(error.schema, Mapping) else []
        text = "; ".join(_unknown(name, known) for name in instance if name not in known)
    elif error.validator == "type":
        wanted = error.validator_value
        text = f"must be {' or '.join(wanted) if isinstance(wanted, list) else wanted}, not {_shown(instance)}"
    elif error.validator == "enum":
        text = f"must be one of {_shown(error.validator_value)}, not {_shown(instance)}"
    else:
        text = error.message
    return f"{where or 'arguments'}: {text}"[:_MAX_PROBLEM_LENGTH]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:100], known, n=1)
    return f"{name[:100]} is not known" + (f" (did you mean {near[0]}?)" if near else "")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:120]}…"
