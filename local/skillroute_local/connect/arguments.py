"""Checking arguments against a tool's JSON schema before its server sees them, with errors that a model can mend."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import anyio
import anyio.to_thread
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 300
_LONGEST_SCHEMA = 4_000
_CHECK_S = 2.0
_SMALL = 16_000  # characters
_REFERENCE = re.compile(r'"\$(ref|dynamicRef|recursiveRef)"')


async def argument_problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with arguments, a sentence each; none where that cannot be told, for the server checks too.

    It cannot be told by a schema that is none, that refers to what is elsewhere, or that takes too long: schemas come
    from strangers. `pattern` is left to the server, for a regular expression can hold the whole process for hours.
    """
    try:
        text = json.dumps(schema)
    except (RecursionError, ValueError):
        return []
    if _is_quick(text, arguments):
        return _problems(text, arguments)
    with anyio.move_on_after(_CHECK_S):
        # Abandoned, it ends by itself: what is left of it does no harm.
        return await anyio.to_thread.run_sync(_problems, text, arguments, abandon_on_cancel=True)
    return []


def as_text(schema: Mapping[str, Any]) -> str:
    """Return a schema as it is shown beside what is wrong, cut where it is long."""
    text = json.dumps(schema, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SCHEMA else f"{text[:_LONGEST_SCHEMA]}…"


def _is_quick(schema: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a check takes milliseconds at most: another thread would cost as much. References can multiply."""
    return len(schema) <= _SMALL and not _REFERENCE.search(schema) and len(str(arguments)) <= _SMALL


def _problems(schema: str, arguments: Mapping[str, Any]) -> list[str]:
    try:
        validator = _validator(schema)
        errors = islice(validator.iter_errors(arguments), MOST_PROBLEMS)
        return [_sentence(error) for error in errors]
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, KeyError, AttributeError):
        return []


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    """Return what checks by a schema. Without the registry a `$ref` would be fetched from wherever it points."""
    read = json.loads(schema)
    kind = validator_for(read, default=Draft202012Validator)
    kind.check_schema(read)
    keywords = {"pattern": _skip, "patternProperties": _skip, "additionalProperties": _additional_properties}
    lenient = extend(kind, keywords)
    found: Validator = lenient(read, registry=Registry())
    return found


def _skip(_: Validator, __: Any, ___: Any, ____: Any) -> Iterator[ValidationError]:
    return iter(())


def _additional_properties(
    validator: Validator, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if "patternProperties" not in schema:
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, instance, schema)


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
    return f"{where or 'arguments'}: {text}"[:_LONGEST_PROBLEM]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:100], known, n=1)
    return f"{name[:100]} is not known" + (f" (did you mean {near[0]}?)" if near else "")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:120]}…"
